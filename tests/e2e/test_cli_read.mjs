// `cleat read`, `prompt`, `complete` and `raw`: with servers of ours and with the reference server, over
// pipes and HTTP.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { bad, bytes, example, fixture, heard, hello, listen, place, run, terminal } from './lib/cli.mjs';
import { expect } from './lib/expect.mjs';
import { NodeServer, everything, freePort } from './lib/node_server.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';

const on = (verb, argv, ...rest) => [verb, '-q', '--', ...argv, '--', ...rest];

/** The reference server, as words of a command line in front of which its verb stands. */
async function both(t) {
	const port = await freePort();
	const { url } = t.use(await NodeServer.start(everything('streamableHttp'), { env: { PORT: port }, ready: /listening on port/, port }));
	return [(verb, ...rest) => on(verb, everything('stdio'), ...rest), (verb, ...rest) => [verb, '-q', url, ...rest]];
}

// ---- read ------------------------------------------------------------------------------------------

test('read: text is written byte for byte, without anything added', async () => {
	await expect(on('read', [example('resources')], 'text://motto'), { stdout: 'Make it fast.' });
	await expect(on('read', [example('resources')], 'city://oslo'), { stdout: 'oslo is a city.' });
});

test('read: bytes go to a pipe, to -o and to --save', async () => {
	const cwd = place(), gif = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1');
	assert.deepEqual(bytes(on('read', [example('resources')], 'pixel://1')).stdout, gif);
	await expect(['read', '-o', 'x.gif', '--', example('resources'), '--', 'pixel://1'], {}, { cwd });
	assert.deepEqual(fs.readFileSync(path.join(cwd, 'x.gif')), gif);
	await expect(['read', '--save', 'out', '--', example('resources'), '--', 'pixel://1'], { stdout: 'out/data-1.gif\n' }, { cwd });
	assert.deepEqual(fs.readFileSync(path.join(cwd, 'out/data-1.gif')), gif);
});

test('read and call: a blob that is text prints as text', async () => {
	const exact = path.join(import.meta.dirname, 'lib/exact_server.mjs');
	const of = (mimeType, blob) => ({ uri: 'x:/y', mimeType, blob: Buffer.from(blob, 'latin1').toString('base64') });
	const show = async (verb, parts, word) => {
		const result = JSON.stringify(verb === 'read' ? { contents: parts } : { content: [{ type: 'text', text: 'see' }, ...parts.map(resource => ({ type: 'resource', resource }))] });
		return (await within(terminal(on(verb, [process.execPath, exact, result], word)).ended, verb)).stdout.replaceAll('\r', '');
	};
	const ü = Buffer.from('ü').toString('latin1');
	for (const mime of ['text/csv', 'TEXT/plain; charset=utf-8', 'application/json', 'application/ld+json']) {
		assert.equal(await show('read', [of(mime, `{"a":"${ü}"}`)], 'x:/y'), '{"a":"ü"}\n', mime);
		assert.equal(await show('call', [of(mime, `{"a":"${ü}"}`)], 'tool'), 'see\n--- x:/y\n{"a":"ü"}\n', mime);
	}
	for (const [mime, blob] of [['text/plain', '\xff'], ['text/plain', 'a\0'], ['application/zip', 'PK'], ['image/png', 'x']])
		assert.match(await show('call', [of(mime, blob)], 'tool'), /--save DIR/, mime);
});

test('read: a terminal gets no bytes, but a hint', async () => {
	const child = terminal(on('read', [example('resources')], 'pixel://1'));
	const { stdout, code } = await within(child.ended, 'the end');
	assert.equal(code, 1);
	assert.match(stdout, /14 bytes that are not text \(image\/gif\).*-o FILE or --save DIR/s);
	assert.ok(!stdout.includes('GIF89a'));
});

test('read: --json, several parts, and what is not there', async () => {
	const { stdout } = await expect(['read', '--json', '--', example('resources'), '--', 'text://motto'], {});
	assert.equal(JSON.parse(stdout).contents[0].text, 'Make it fast.');
	await expect(on('read', [fixture], 'multi://first'), { stdout: /^--- multi:\/\/first\n[^]*--- multi:/ });
	await expect(on('read', [example('resources')], 'text://nope'), { code: 5, stderr: /not found/i });
	await expect(on('read', [example('resources')]), { code: 2, stderr: /which resource/ });
	await expect(on('read', [example('resources')], 'a://b', 'c://d'), { code: 2, stderr: /one URI only/ });
});

test('read, prompt and complete with the reference server, over stdio and HTTP', async t => {
	for (const of of await both(t)) {
		await expect(of('read', 'demo://resource/dynamic/text/3'), { stdout: /^Resource 3: This is a plaintext resource/ });
		assert.match(String(bytes(of('read', 'demo://resource/dynamic/blob/4')).stdout), /^Resource 4: This is a base64 blob/);
		await expect(of('prompt', 'args-prompt', 'city=Oslo'), { stdout: "user:\nWhat's weather in Oslo?\n" });
		await expect(of('prompt', 'args-prompt', 'town=Oslo'), { code: 2, stderr: /there is no argument "town"/ });
		await expect(of('prompt', 'args-promt'), { code: 5, stderr: /did you mean "args-prompt"/ });
		await expect(of('complete', 'completable-prompt', 'department=E'), { stdout: 'Engineering\n' });
		await expect(of('complete', 'completable-prompt', 'name=', 'department=Sales'), { stdout: 'David\nEve\nFrank\n' });
		await expect(of('complete', 'demo://resource/dynamic/text/{resourceId}', 'resourceId=7'), { stdout: '7\n' });
	}
});

// ---- prompt ----------------------------------------------------------------------------------------

test('prompt: messages with their roles; arguments are checked before anything is sent', async () => {
	await expect(on('prompt', [fixture], 'conversation', 'what=tea'), { stdout: /^user:\n[^]*assistant:\n/ });
	await expect(on('prompt', [fixture], 'conversation'), { code: 2, stderr: /missing argument "what"/ });
	const { stdout } = await expect(['prompt', '-q', '--json', '--', fixture, '--', 'conversation', '{"what": "tea"}'], {});
	assert.ok(JSON.parse(stdout).messages.length > 1);
	await expect(on('prompt', [fixture], 'conversation', '-'), { stdout: /^user:/ }, { input: '{"what": "tea"}' });
});

// ---- complete --------------------------------------------------------------------------------------

test('complete: prompts and templates, nothing, and mistakes', async () => {
	await expect(on('complete', [example('prompts')], 'describe', 'what=p'), { stdout: 'painting\nphoto\nplan\n' });
	await expect(on('complete', [example('prompts')], 'describe', 'what=ph'), { stdout: 'photo\n' });
	await expect(on('complete', [example('resources')], 'city://{name}', 'name'), { stdout: 'bergen\noslo\nrome\n' });
	await expect(['complete', '--', example('resources'), '--', 'city://{name}', 'name=x'], { stdout: '', stderr: /suggests nothing/ });
	const { stdout } = await expect(['complete', '-q', '--jq', '.completion.values[0]', '--', example('prompts'), '--', 'describe', 'what=pl'], {});
	assert.equal(stdout, 'plan\n');
	await expect(on('complete', [example('prompts')], 'describe'), { code: 2, stderr: /which argument/ });
	await expect(on('complete', [example('prompts')], 'nope', 'x='), { code: 5 });
});

// ---- raw -------------------------------------------------------------------------------------------

test('raw: any method; the result or the error object as it came', async t => {
	const url = await listen(t);
	const params = '{"name": "add", "arguments": {"a": 2, "b": 40}}';
	for (const of of [(...rest) => on('raw', [hello], ...rest), (...rest) => ['raw', '-q', url, ...rest]]) {
		assert.equal(JSON.parse((await expect(of('tools/call', params), {})).stdout).content[0].text, '42');
		assert.equal(JSON.parse((await expect(of('tools/call', '-'), {}, { input: params })).stdout).content[0].text, '42');
		assert.equal(JSON.parse((await expect(of('tools/call', 'name=add', 'arguments:={"a":1,"b":1}'), {})).stdout).content[0].text, '2');
		assert.deepEqual(JSON.parse((await expect(of('no/such'), { code: 5 })).stdout), { code: -32601, message: 'Unknown method: no/such' });
		await expect(of('tools/call', '{"name": '), { code: 2, stderr: /not a JSON object/ });
		await expect(of(), { code: 2, stderr: /which method/ });
	}
});

test('raw: a tool that failed is printed, and is exit code 5', async () => {
	const { stdout } = await expect(on('raw', [fixture], 'tools/call', 'name=test_error_handling'), { code: 5 });
	assert.equal(JSON.parse(stdout).isError, true);
});

test('raw --notify sends a notification and waits for nothing', async () => {
	const { stderr } = await expect(['raw', '-v', '--notify', '--', hello, '--', 'notifications/x', '{"a": 1}'], { stdout: '' });
	assert.match(stderr, /> \{"jsonrpc":"2.0","method":"notifications\/x","params":\{"a":1/);
	assert.equal(stderr.match(/^> .*"notifications\/x"/gm).length, 1);
});

test('what a hostile server says reaches the terminal as harmless text', async () => {
	for (const words of [['raw', 'tools/list'], ['raw', 'tools/call', 'name=evil'], ['shell']]) {
		const [verb, ...rest] = words;
		const child = terminal([verb, '--', ...bad('hostile'), ...(rest.length ? ['--', ...rest] : [])]);
		if (verb === 'shell') {
			await heard(child, /> $/);
			child.stdin.write('evil\n');
			await heard(child, /a\\x1b[^]*> $/);
			child.stdin.write('quit\n');
		}
		const { stdout } = await within(child.ended, 'the end');
		assert.ok(!/\x1b\]0;|\x1b\[2J|\x9b31m|\u202e|\x00/.test(stdout), JSON.stringify(stdout));
	}
});

await runCases();
