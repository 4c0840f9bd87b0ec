// `cleat` where the machine or the file gives up: nothing is half written, and it is said what happened.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { hello, place, start, heard } from './lib/cli.mjs';
import { expect, fails, good } from './lib/expect.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const install = (file, ...more) => ['install', '--yes', file, '--name', 'x', ...more, '--', 'true'];

test('install: a file of one\'s own belongs to no project, and its place is made or said', async () => {
	const cwd = place({ 'plain': '', 'full.json/x': '' });
	await fails(2, /--project goes with a program's name, not with a file/, install('./mcp.json', '--project'), { cwd });
	await fails(1, /plain\/mcp\.json: /, install('plain/mcp.json'), { cwd });
	await fails(1, /full\.json: /, install('./full.json'), { cwd });
	await expect(install('new/place/mcp.json'), {}, { cwd });
	assert.deepEqual(JSON.parse(fs.readFileSync(path.join(cwd, 'new/place/mcp.json'))), { mcpServers: { x: { command: 'true', args: [] } } });
});

test('install: a file of VS Code has its own word for servers, wherever it is', async () => {
	const cwd = place();
	await expect(install('below/.vscode/mcp.json'), {}, { cwd });
	assert.deepEqual(Object.keys(JSON.parse(fs.readFileSync(path.join(cwd, 'below/.vscode/mcp.json')))), ['servers']);
});

test('install: a name that is longer than names may be leaves nothing behind', async () => {
	const cwd = place(), file = `${'n'.repeat(250)}.json`;
	await fails(1, /: /, install(`./${file}`), { cwd }); // it fits, but not with what is written beside it
	assert.deepEqual(fs.readdirSync(cwd), ['.keep']);
});

test('-o: a device that is full, and a place where nothing can be made', async () => {
	const cwd = place({ 'plain': '' });
	await fails(1, /No space left on device/, ['ls', '-o', '/dev/full', '--', hello], { cwd });
	await fails(1, /plain\/out: Not a directory/, ['ls', '-o', 'plain/out', '--', hello], { cwd });
	await fails(1, /none\/out: No such file/, ['ls', '-o', 'none/out', '--', hello], { cwd });
	assert.deepEqual(fs.readdirSync(cwd).sort(), ['.keep', 'plain']);
});

const libjq = /libjq.so.1\) found/.test(await good(['version']));

test(`--jq: halt ends well, halt_error does not, whatever its message is${libjq ? '' : ' # SKIP libjq is not installed'}`, async () => {
	if (!libjq) return;
	const jq = expression => ['ls', '--jq', expression, '--', hello];
	assert.equal(await good(jq('.tools[0].name, halt, "more"')), 'add\n');
	await fails(1, /^cleat: --jq: out\n$/, jq('"out" | halt_error'));
	await fails(1, /^cleat: --jq: {"a":1}\n$/, jq('{a: 1} | halt_error(3)'));
	await fails(1, /^cleat: --jq: \[1\]\n?$/, jq('[1] | error'));
});

test('record --http is a server, not a proxy', async t => {
	const cwd = place();
	const child = start(['record', '--http', '127.0.0.1:0', 's.ndjson', 'http://127.0.0.1:1/mcp'], { cwd, input: null });
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	const { port } = new URL(/http:\S+/.exec(await heard(child, /http:\S+:\d+\S*/, 'stderr'))[0]);
	const ask = words => within(new Promise((resolve, reject) => {
		let answer = '';
		net.connect(port, '127.0.0.1').on('data', chunk => { answer += chunk; }).on('error', reject).on('close', () => resolve(answer)).end(words);
	}), 'an answer');
	for (const [words, status, why] of [
		['GET /mcp HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n', 403, /this machine/],
		[`GET http://elsewhere.example/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`, 403, /this machine/],
		[`OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`, 400, /a server, not a proxy/]
	]) {
		const answer = await ask(words);
		assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), answer);
		assert.match(answer, why);
	}
});

await runCases();
