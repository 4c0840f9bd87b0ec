// What documentation shows of a terminal: "$ command" and what it prints; … stands for anything. A line that ends
// in \ goes on.

const escape = s => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Throws unless `text` is what `lines` show. */
export function matches(command, lines, text) {
	const wanted = lines.split('…').map(escape).join('[^]*');
	if (!new RegExp(`^${wanted}\n?$`).test(text))
		throw new Error(`$ ${command}\nprints\n${text}\ninstead of\n${lines}`);
}

/** [command, what it prints] of a console block. */
export const commands = block => block.split(/^\$ /m).slice(1).map(part => {
	const [, command, rest] = /^((?:.*\\\n)*.*)\n?([^]*)$/.exec(part.replace(/\n$/, ''));
	return [command, rest];
});

/** The console blocks of a Markdown text under <!-- kind -->. */
export const blocks = (markdown, kind) =>
	[...markdown.matchAll(new RegExp(`<!-- ${kind} -->\n+\`\`\`\\w*\n([^]*?)^\`\`\``, 'gm'))].map(m => m[1]);

/** Runs each command of a block with run(command) -> { stdout, stderr } and compares. */
export function printed(block, run) {
	for (const [command, lines] of commands(block)) {
		const { stdout, stderr } = run(command);
		matches(command, lines, (stdout + stderr).replaceAll('\r', ''));
	}
}
