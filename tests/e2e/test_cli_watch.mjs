// `cleat watch`: changes of lists and resources and log messages as they come, over pipes and HTTP, and what it
// says about a connection that is lost and comes back.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { example, fixture, heard, hello, listen, run, start } from './lib/cli.mjs';
import { NodeServer, everything, freePort } from './lib/node_server.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const lines = text => text.trim().split('\n').map(line => JSON.parse(line));

/** Starts a watch that is ended with the case, and waits until it hears. */
async function watch(t, args) {
	const child = start(['watch', '-v', ...args], { input: null });
	t.use({ end: async () => { child.kill('SIGKILL'); await child.ended; return []; } });
	return child;
}

for (const era of ['legacy', 'modern']) {
	test(`${era}: HTTP: what one client does, another one hears`, async t => {
		const url = await listen(t, example('resources'));
		const child = await watch(t, ['--json', '--era', era, '--count', '2', url, 'counter://clicks']);
		await heard(child, /subscriptions\/acknowledged|> \{.*"resources\/subscribe"[^]*< \{[^\n]*"result":\{\}/, 'stderr');
		for (let i = 0; i < 2; i++) assert.equal((await run(['call', url, 'click'])).code, 0);
		const { code, stdout } = await within(child.ended, 'the end');
		assert.equal(code, 0);
		for (const event of lines(stdout)) {
			assert.equal(event.event, 'resource');
			assert.equal(event.uri, 'counter://clicks');
			assert.match(event.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		}
		assert.equal(lines(stdout).length, 2);
	});
}

test('the reference server: tools that change and log messages, over stdio and HTTP', async t => {
	const port = await freePort();
	const { url } = t.use(await NodeServer.start(everything('streamableHttp'), { env: { PORT: port }, ready: /listening on port/, port }));
	for (const where of [['--', ...everything('stdio'), '--'], [url]]) {
		const uri = 'demo://resource/dynamic/text/1';
		const child = await watch(t, ['--log', 'debug', ...where, uri]);
		await heard(child, /^\d\d:\d\d:\d\d\.\d{3} \[info\] Received Subscribe Resource request for URI: demo/m);
		child.kill('SIGINT');
		assert.equal((await within(child.ended, 'the end')).code, 130);
	}
});

test('it ends by itself after --for, by --count, and by Ctrl-C', async t => {
	assert.equal((await run(['watch', '--for', '50ms', '--', hello])).code, 0);
	const child = await watch(t, ['--', hello]);
	await heard(child, /watching/, 'stderr');
	child.kill('SIGINT');
	assert.equal((await within(child.ended, 'the end')).code, 130);
	for (const words of [['--count', '0'], ['--count', 'x'], ['--for', 'soon']])
		assert.equal((await run(['watch', ...words, '--', hello])).code, 2);
});

test('a program that dies is started again, and both are said', async t => {
	const child = await watch(t, ['--json', '--', hello]);
	await heard(child, /watching|acknowledged/, 'stderr');
	process.kill(childOf(child.pid, 'hello'), 'SIGKILL');
	await heard(child, /"event":"lost"[^]*"event":"(back|missed)"/);
	child.kill('SIGINT');
	await within(child.ended, 'the end');
});

function childOf(pid, name) {
	const rows = execFileSync('ps', ['-eo', 'pid,ppid,comm']).toString().trim().split('\n').map(r => r.trim().split(/\s+/));
	const below = new Set([String(pid)]);
	for (let i = 0; i < 3; i++) for (const [p, pp] of rows) if (below.has(pp)) below.add(p);
	return Number(rows.find(([p, , comm]) => below.has(p) && comm === name)[0]);
}

test('a server over HTTP that goes away and comes back is heard again', async t => {
	const port = await freePort(), program = example('resources');
	const begin = () => NodeServer.start([program, '--http', `127.0.0.1:${port}`], { ready: /http:/, port });
	const first = t.use(await begin());
	const child = await watch(t, ['--json', `http://127.0.0.1:${port}/mcp`, 'counter://clicks']);
	await heard(child, /acknowledged/, 'stderr');
	await first.kill('SIGKILL');
	const second = t.use(await begin());
	await heard(child, /"event":"(missed|back)"/);
	await within((async () => {
		while (!/"event":"resource"/.test(child.result.stdout)) await run(['call', second.url, 'click']);
	})(), 'the change');
	child.kill('SIGINT');
	await within(child.ended, 'the end');
});

test('a resource that cannot be watched, and a server that is not there', async () => {
	const { code, stderr } = await run(['watch', '--', hello, '--', 'nope://x']);
	assert.equal(code, 5, stderr);
	assert.equal((await run(['watch', `http://127.0.0.1:${await freePort()}/mcp`])).code, 4);
});

test('--count counts what the server says; --jq picks from it', async t => {
	const url = await listen(t, fixture);
	const child = await watch(t, ['--era', 'legacy', '--log', 'debug', '--count', '2', '--jq', '.event', url]);
	await heard(child, /< HTTP|logging\/setLevel/, 'stderr');
	await within((async () => {
		while (child.exitCode === null) await run(['call', '-q', url, 'test_trigger_tool_change']);
	})(), 'the changes');
	const { code, stdout } = await within(child.ended, 'the end');
	assert.equal(code, 0);
	assert.equal(stdout, 'tools\ntools\n');
});

await runCases();
