// Makes docs/guides/configuration.md, the reference of `cleat serve`'s configuration, from its schema:
//   .deps/node scripts/configuration-reference.mjs            prints it
//   .deps/node scripts/configuration-reference.mjs --update   writes it
// What stands before the first table is text of this file; everything else is the schema's own words, so
// mend them there (docs/serve.schema.json). A test compares.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
const page = path.join(root, 'docs/guides/configuration.md');

const intro = `# The configuration file

<!-- Made by scripts/configuration-reference.mjs from docs/serve.schema.json: do not edit. -->

\`cleat serve demo.json\` offers what a file says: commands, scripts, web requests, folders, databases, files and
prompts. The smallest one:

\`\`\`jsonc
{
  "name": "demo",
  "tools": {
    // $path comes from the caller; it is a variable of the script, never a part of its text
    "disk_usage": {
      "args": "path: string \\"Folder to measure\\"",
      "sh": "du -sh -- \\"$path\\""
    },
    "today": { "cmd": ["date", "+%F"], "hints": { "read_only": true } },
  }
}
\`\`\`

\`cleat serve --check demo.json\` says what would be served, or everything that is wrong, each with file, line and
column (exit status 7). \`SIGHUP\`, or \`--watch\` by itself, loads the file again: clients hear what has changed,
calls that run finish as they began, and a file with a mistake changes nothing. Only what a server says about
itself (name, version, instructions, http) needs a new start.

\`cleat serve --schema\` prints the schema that all of this is made from
([docs/serve.schema.json](../serve.schema.json)). With \`"$schema": "./serve.schema.json"\` in the file an editor
completes and checks it while you type.

## Texts

In every text but scripts (\`sh\`), \`\${NAME}\` is replaced when the file is read:

| written | is |
|---|---|
| \`\${NAME}\` | the variable of \`vars\`, the secret of \`secrets\`, or the environment variable of that name, in this order; none of them: an error |
| \`\${NAME:-text}\` | the same, or the text where it is unset or empty |
| \`\${env:NAME}\` | the environment variable, whatever \`vars\` says |
| \`\${configDir}\`, \`\${home}\` | the directory of the file; the user's |
| \`$$\` | a \`$\`; one that stands before anything but \`{\` and \`$\` may stay alone |

What comes in is not looked at again: a variable that holds \`\${X}\`, \`{x}\` or \`$(date)\` means just these
characters. Secrets are read when they are first needed and never appear in a message; one in a text that clients
see (a name, title, description, a resource's or prompt's text) is a mistake.

In the texts of tools and prompts \`{name}\` is replaced by an argument when the tool is called; \`{{\` and \`}}\` are
braces.

Times are written \`"250ms"\`, \`"30s"\`, \`"2m"\`, \`"1h"\` or as a number of seconds, sizes \`"64KB"\`, \`"1MB"\`,
\`"2GB"\` (a KB is 1,024 bytes) or as a number of bytes. Paths are relative to the file that they stand in; \`~/\`
is the user's directory. Several files, and options of the command line, may be used together: what can be said
only once is taken from the first file that says it, and a name that two of them give to a tool is an error.
`;

// ---- from schema to words ------------------------------------------------------------------------

const anchor = title => title.toLowerCase().replace(/[^a-z0-9 -]/g, '').replaceAll(' ', '-');
const code = value => `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``;
const cell = text => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

class Reference {
	constructor(schema) {
		this.schema = schema;
		this.sections = []; // { title, schema, names }
	}

	/** What a schema is about, references followed; what stands beside a reference goes before it. */
	resolve(schema) {
		if (!schema.$ref) return schema;
		const name = schema.$ref.replace('#/$defs/', '');
		const { $ref, ...own } = schema;
		return { ...this.resolve(this.schema.$defs[name]), ...own };
	}

	/** The section of a schema with a title of its own, made when it is first referred to. */
	link(schema) {
		if (!this.sections.some(s => s.title === schema.title)) this.sections.push({ title: schema.title, schema });
		return `[${schema.title[0].toLowerCase()}${schema.title.slice(1)}](#${anchor(schema.title)})`;
	}

	type(given) {
		const schema = this.resolve(given);
		const object = this.object(schema);
		if (object && schema.title) return this.link(schema);
		if (schema.if) return this.branches(schema).map(s => this.type(s)).filter((t, i, all) => all.indexOf(t) === i).join(' or ');
		if (schema.anyOf) return schema.anyOf.map(s => this.type(s)).join(' or ');
		if ('const' in schema) return code(schema.const);
		if (schema.enum) return schema.enum.map(code).join(', ');
		if (schema.type === 'array') return `list of ${this.type(schema.items ?? {})}`.replace(/^list of (text|integer|number)$/, 'list of $1s');
		const values = schema.additionalProperties;
		if (schema.type === 'object' && values && typeof values === 'object') return `object; values: ${this.type(values)}`;
		const words = { string: 'text', boolean: 'true or false', object: 'object', array: 'list', integer: 'integer', number: 'number' };
		return [schema.type ?? 'anything'].flat().map(t => words[t] ?? t).join(' or ');
	}

	branches(schema) {
		return [schema.else, schema.then].filter(Boolean).flatMap(s => (s.if ? this.branches(s) : [s]));
	}

	/** The schema whose members are to be listed, if it is an object with any. */
	object(schema) {
		if (schema.properties) return schema;
		return this.branches(schema).find(s => s.properties) ?? null;
	}

	facts(schema, required) {
		const facts = [];
		if (required) facts.push('Required.');
		if (schema.default !== undefined && schema.default !== '') facts.push(`Default: ${code(schema.default)}.`);
		if (schema.minimum !== undefined)
			facts.push(schema.maximum !== undefined ? `From ${schema.minimum} to ${schema.maximum}.` : `At least ${schema.minimum}.`);
		if (schema.examples) facts.push(`${schema.examples.length > 1 ? 'Examples' : 'Example'}: ${schema.examples.map(code).join(', ')}`);
		return facts.join(' ');
	}

	rows(object, prefix = '') {
		const lines = [];
		for (const [name, given] of Object.entries(object.properties)) {
			const schema = this.resolve(given);
			const inner = this.object(schema);
			const about = [schema.description ?? '', this.facts(schema, object.required?.includes(name))].filter(Boolean).join(' ');
			lines.push(`| \`${prefix}${name}\` | ${this.type(given).replaceAll('|', '\\|')} | ${cell(about)} |`);
			if (inner && !schema.title) lines.push(...this.rows(inner, `${prefix}${name}.`));
			const items = schema.items && this.object(this.resolve(schema.items));
			if (items && !this.resolve(schema.items).title) lines.push(...this.rows(items, `${prefix}${name}[].`));
			const values = schema.additionalProperties?.anyOf?.map(s => this.object(s)).find(Boolean);
			if (values) lines.push(...this.rows(values, `${prefix}${name}.*.`));
		}
		return lines;
	}

	table(schema) {
		return ['| member | value | meaning |', '|---|---|---|', ...this.rows(this.object(schema))].join('\n');
	}

	page() {
		const parts = [intro, `## The file\n\n${this.table(this.schema)}\n`];
		for (let i = 0; i < this.sections.length; i++) { // grows on the way
			const { title, schema } = this.sections[i];
			parts.push(`## ${title}\n\n${schema.description}\n\n${this.table(schema)}\n`);
		}
		return parts.join('\n');
	}
}

export const reference = () => new Reference(JSON.parse(fs.readFileSync(path.join(root, 'docs/serve.schema.json'), 'utf8'))).page();
export const stored = () => fs.readFileSync(page, 'utf8');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	if (process.argv.includes('--update')) fs.writeFileSync(page, reference());
	else process.stdout.write(reference());
}
