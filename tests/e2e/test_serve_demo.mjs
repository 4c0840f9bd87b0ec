// examples/demo.json, which `make run` serves: everything in it works, and what is printed at the start is true.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { blocks, commands, matches } from './lib/console.mjs';
import { build, cleat, heard, place, run } from './lib/cli.mjs';
import { everyWay, text } from './lib/serve.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const root = process.env.CLEAT_SOURCE_DIR ?? path.resolve(import.meta.dirname, '../..');

/** A copy, so that the sample database is made anew, and not in the tree. */
function demo() {
	const directory = place();
	fs.cpSync(path.join(root, 'examples/demo.json'), path.join(directory, 'demo.json'));
	fs.cpSync(path.join(root, 'examples/demo'), path.join(directory, 'demo'), { recursive: true, filter: file => !/\.db/.test(file) });
	return path.join(directory, 'demo.json');
}

const asked = { capabilities: { elicitation: {} }, answers: { 'elicitation/create': () => ({ action: 'accept', content: { length: 20, colour: 'red' } }) } };

everyWay('every tool of the demonstration works', () => [demo()], async session => {
	const { tools } = await session.client.listTools();
	assert.deepEqual(tools.map(t => t.name).sort(), ['breaking_load', 'count_words', 'list_files', 'now_at', 'orders_of', 'query', 'quote_rope', 'read_file', 'search_files', 'stat_file', 'take_stock']);
	assert.deepEqual((await session.call('breaking_load', { diameter: 10 })).structuredContent, { diameter: 10, material: 'polyester', breaks_at_kg: 2200, load_at_most_kg: 440 });
	assert.match(text(await session.call('count_words', { text: 'two words' })), /^\s*0\s+2\s+9$/);
	assert.match(text(await session.call('now_at', { zone: 'UTC' })), /UTC$/);
	assert.equal((await session.call('orders_of', { customer: 'Ada' })).structuredContent.rows.length, 10);
	assert.deepEqual((await session.call('query', { sql: 'SELECT count(*) AS n FROM orders' })).structuredContent.rows, [{ n: 200 }]);
	assert.match(text(await session.call('list_files', { recursive: true })), /care\/stainless\.md/);
	assert.match(text(await session.call('read_file', { path: 'knots.md', head: 1 })), /^# Four knots/);
	assert.match(text(await session.call('search_files', { pattern: 'bowline', ignore_case: true })), /knots\.md:7/);
	assert.ok(!(await session.call('stat_file', { path: 'prices.csv' })).isError);
	assert.equal(text(await session.call('quote_rope', { diameter: 10 })), '20 m of red rope, 10 mm: 24 euros');
	session.expectErrors = true; // SDKs complain of progress that comes together with the answer, and drop it: the wire tells
	const stock = await session.call('take_stock', { shelves: 3 }, { onprogress() {} });
	assert.match(text(stock), /^3 shelves counted/);
	const steps = session.received.items.filter(m => m.method === 'notifications/progress').map(m => m.params);
	assert.deepEqual(steps.map(({ progress, total, message }) => [progress, total, message]), [1, 2, 3].map(i => [i, 3, `shelf ${i} counted`]));
}, asked);

everyWay('its resources, templates and prompts', () => [demo()], async session => {
	const read = async uri => (await session.client.readResource({ uri })).contents[0].text;
	assert.match(await read('shop://opening-hours'), /Monday/);
	assert.match(await read('shop://disk'), /Filesystem/);
	assert.equal(await read('tide://Oslo'), 'High water at Oslo: 06:12 and 18:37\n');
	assert.match(await read('docs:///mooring.md'), /springs/);
	assert.match(await read('sqlite://shop/schema'), /CREATE TABLE orders/);
	const { completion } = await session.client.complete({ ref: { type: 'ref/resource', uri: 'tide://{harbour}' }, argument: { name: 'harbour', value: 'C' } });
	assert.deepEqual(completion.values, ['Cork', 'Cuxhaven']);
	const { prompts } = await session.client.listPrompts();
	assert.deepEqual(prompts.map(p => p.name).sort(), ['advise', 'weekly-report']);
	const { messages } = await session.client.getPrompt({ name: 'weekly-report', arguments: { from: '2026-07-20' } });
	assert.deepEqual(messages.map(m => m.role), ['user', 'assistant']);
	assert.match(messages[0].content.text, /starts on 2026-07-20/);
}, asked);

/** As `make run` starts it; { url, said }. */
async function start(t, address, cwd = root, file = demo()) {
	const child = spawn(cleat, ['serve', file, '--http', address, '--any-port', '--banner'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
	child.result = { stdout: '', stderr: '' };
	for (const name of ['stdout', 'stderr'])
		child[name].setEncoding('utf8').on('data', chunk => { child.result[name] += chunk; child.heard?.(child.result); });
	child.ended = new Promise(resolve => child.once('close', resolve));
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	await heard(child, /Ctrl-C ends it/, 'stderr');
	const said = child.result.stderr;
	return { url: /listening on (\S+)/.exec(said)[1], said };
}

test('the README shows what one sees', async t => {
	const { url, said } = await start(t, '127.0.0.1:0');
	const env = { ...process.env, PATH: `${path.dirname(cleat)}:${process.env.PATH}` };
	const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8').replaceAll('http://127.0.0.1:7331/mcp', url);
	const all = blocks(readme, 'demo').flatMap(commands);
	assert.ok(all.length > 4);
	for (const [command, lines] of all) {
		const { stdout, stderr } = command === 'make run'
			? { stdout: '', stderr: said.replace(/^  \S*cleat (?=ls|call|shell)/gm, '  build/release/cleat ') }
			: spawnSync('sh', ['-c', command], { cwd: root, input: '', encoding: 'utf8', env });
		matches(command, lines, stdout + stderr);
	}
});

test('an address that is nearly right says where MCP is, once', async t => {
	const { url } = await start(t, '127.0.0.1:0');
	for (const wrong of [new URL('/', url), new URL('/mpc', url)]) {
		const { code, stderr } = await run(['ls', wrong.href]);
		assert.equal(stderr, `cleat: ${wrong.href} answered 404: "there is nothing at this path; MCP is at /mcp"; is this the address of the MCP endpoint?\n`);
		assert.equal(code, 4);
	}
});

test('what it prints at the start is true: the address, three commands, two configurations', async t => {
	const { url, said } = await start(t, '127.0.0.1:0');
	const commands = said.split('\n').filter(line => /^  \S*cleat (ls|call|shell|show) /.test(line)).map(line => line.trim());
	assert.equal(commands.length, 3, said);
	for (const command of commands) {
		assert.ok(command.includes(url));
		const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: root, input: '', encoding: 'utf8', timeout: 60_000, env: { ...process.env, PATH: '/usr/bin:/bin' } });
		assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
		if (/ (ls|call) /.test(command)) assert.ok(stdout.length > 5, command);
	}
	const blocks = [...said.matchAll(/\{ "mcpServers"[^]*?\} \} \}/g)].map(m => JSON.parse(m[0]));
	assert.equal(blocks.length, 2);
	for (const block of blocks) {
		const name = Object.keys(block.mcpServers)[0];
		const cwd = place({ '.mcp.json': JSON.stringify(block) });
		const result = await run(['call', name, 'breaking_load', 'diameter=4'], { cwd });
		assert.equal(result.code, 0, result.stderr);
		assert.match(result.stdout, /352/);
	}
});

test('a port that is taken: it says so and picks another', async t => {
	const other = net.createServer().listen(0, '127.0.0.1');
	await within(new Promise(resolve => other.once('listening', resolve)), 'a port');
	t.use({ end: async () => { await new Promise(resolve => other.close(resolve)); return []; } });
	const { port } = other.address();
	const { url, said } = await start(t, `127.0.0.1:${port}`);
	assert.notEqual(Number(new URL(url).port), port);
	assert.ok(said.includes(String(port)), said);
	assert.match(said, /port \d+/);
	assert.equal((await run(['ping', url])).code, 0);
	const strict = await run(['serve', demo(), '--http', `127.0.0.1:${port}`]);
	assert.notEqual(strict.code, 0);
	assert.match(strict.stderr, /in use|taken/);
});

test('make run is this', () => {
	const { stdout } = spawnSync('make', ['-n', 'run'], { cwd: root, encoding: 'utf8' });
	assert.match(stdout, /build\/release\/cleat serve examples\/demo\.json --http 127\.0\.0\.1:7331 --any-port --banner/);
	assert.ok(build);
});

await runCases();
