// The command line of the official MCP Inspector against `cleat serve examples/demo.json`, in both eras, over
// stdio and over HTTP.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';

const [inspector] = process.argv.slice(2);
const cleat = path.join(process.env.CLEAT_BUILD_DIR, 'cleat');
const demo = path.resolve(import.meta.dirname, '../../../examples/demo.json');

const server = spawn(cleat, ['serve', demo, '--http', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
const url = await new Promise((resolve, reject) => {
	let said = '';
	server.stderr.setEncoding('utf8').on('data', chunk => {
		said += chunk;
		const found = /listening on (\S+)/.exec(said);
		if (found) resolve(found[1]);
	});
	server.once('close', () => reject(new Error(said)));
});

const ways = {
	stdio: [cleat, 'serve', demo],
	http: ['--server-url', url, '--transport', 'http']
};

function ask(way, era, words) {
	const args = ['--cli', ...ways[way], '--protocol-era', era, ...words];
	const { status, stdout, stderr } = spawnSync(process.execPath, [inspector, ...args], { encoding: 'utf8', timeout: 60_000, input: '' });
	assert.equal(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
	return JSON.parse(stdout);
}

const cases = {
	'lists the tools': (way, era) => {
		const names = ask(way, era, ['--method', 'tools/list']).tools.map(t => t.name);
		for (const name of ['query', 'read_file', 'search_files', 'breaking_load', 'take_stock', 'quote_rope']) assert.ok(names.includes(name), name);
	},
	'calls a script': (way, era) => assert.equal(ask(way, era, ['--method', 'tools/call', '--tool-name', 'breaking_load', '--tool-arg', 'diameter=12']).structuredContent.breaks_at_kg, 3168),
	'queries the database': (way, era) => assert.deepEqual(ask(way, era, ['--method', 'tools/call', '--tool-name', 'query', '--tool-args-json', '{"sql": "SELECT count(*) AS n FROM orders"}']).structuredContent.rows, [{ n: 200 }]),
	'searches the folder': (way, era) => assert.match(ask(way, era, ['--method', 'tools/call', '--tool-name', 'search_files', '--tool-arg', 'pattern=Bowline']).content[0].text, /knots\.md:7/),
	'reads a resource': (way, era) => assert.match(ask(way, era, ['--method', 'resources/read', '--uri', 'tide://Oslo']).contents[0].text, /Oslo/),
	'gets a prompt': (way, era) => assert.match(ask(way, era, ['--method', 'prompts/get', '--prompt-name', 'advise', '--prompt-args', 'job=moor']).messages[0].content.text, /moor/)
};

const chosen = Object.keys(ways).flatMap(way => ['legacy', 'modern'].flatMap(era => Object.entries(cases).map(([name, body]) => [`${way}, ${era}: ${name}`, () => body(way, era)])));
console.log(`1..${chosen.length}`);
for (const [i, [name, body]] of chosen.entries()) {
	try {
		body();
		console.log(`ok ${i + 1} - ${name}`);
	} catch (error) {
		process.exitCode = 1;
		console.log(`not ok ${i + 1} - ${name}\n${String(error.stack).replace(/^/gm, '# ')}`);
	}
}
server.kill();
