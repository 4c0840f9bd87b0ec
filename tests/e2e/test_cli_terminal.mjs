// `cleat` and the person in front of it: questions of servers with and without a terminal, progress, Ctrl-C,
// colours, pictures, and that nothing that a server says gets at the terminal.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { bad, cleat, fixture, hello, heard, place, run, start, terminal } from './lib/cli.mjs';
import { expect } from './lib/expect.mjs';
import { local, packaged } from './lib/node_server.mjs';
import { eventually, run as runCases, test, within } from './lib/tap.mjs';

const everything = packaged('@modelcontextprotocol/server-everything', 'dist/index.js', 'stdio');
const call = (tool, ...options) => ['call', '-q', ...options, '--', fixture, '--', tool];
const alive = pid => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

// ---- errors ----------------------------------------------------------------------------------------

test('programs read all of an error, people as much as the terminal has lines', async () => {
	const why = Array.from({ length: 60 }, (_, i) => `line ${i} ${'x'.repeat(20)}`).join('\n') + '\nEND';
	const reject = (...options) => ['call', ...options, '--', fixture, '--', 'reject', 'code=-32050', `why=${why}`];
	const { error } = JSON.parse((await expect(reject('--json'), { code: 5 })).stderr);
	assert.equal(error.message, `tools/call reject: refused: ${why}`);
	assert.ok((await expect(reject(), { code: 5 })).stderr.includes(why));
	const { stdout } = await within(terminal(reject()).ended, 'the call');
	assert.match(stdout, /line 19 [^]*\n {2}\(\d+ more lines than the terminal has; 2>FILE has all\)/);
	assert.ok(!stdout.includes('END') && stdout.split('\n').length <= 24, stdout);
	const failed = JSON.stringify({ isError: true, content: [{ type: 'text', text: why }] });
	const said = await expect(['call', '--json', '--', ...local('exact_server.mjs', failed), '--', 'tool'], { code: 5 });
	assert.equal(JSON.parse(said.stderr).error.message, `the tool failed: ${why}`);
	const refuses = `process.stdin.on('data', d => console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(d).id, error: { code: 1, message: '${'y'.repeat(300)}END' } })))`;
	assert.match((await run(['ls', '--json', '--', process.execPath, '-e', refuses])).stderr, /"data":\{"code":1,"message":"y{300}END"\}/);
});

// ---- without a terminal ----------------------------------------------------------------------------

const profile = ['--answer', 'name=Ann', '--answer', 'mail=ann@example.com', '--answer', 'age=30'];

for (const era of ['legacy', 'modern']) {
	test(`${era}: questions are answered by options`, async () => {
		const of = (tool, ...options) => call(tool, '--era', era, ...options);
		await expect(of('ask_profile', ...profile), { stdout: /^Ann <ann@example.com>, 30, no colour, member\n$/ });
		await expect(of('ask_profile', ...profile, '--answer', 'color="red"', '--answer', 'member:=false'), { stdout: /^Ann <.*>, 30, red\n$/ });
		await expect(of('ask_confirm', '--accept'), { stdout: /^deleted\n$/ });
		await expect(of('ask_hint', '--answer', 'sampling=Paris'), { stdout: /Paris/ });
		await expect(of('ask_hint', '--answer', 'sampling={"text": "Rome", "model": "m-1"}'), { stdout: /Rome/ });
		await expect(of('ask_hint', '--answer', 'sampling={"role": "assistant", "model": "m-2", "content": {"type": "text", "text": "Oslo"}}'), { stdout: /Oslo/ });
		const cwd = place({ 'a.json': JSON.stringify({ name: 'Bob', mail: 'b@example.com', age: 7, sampling: 'Bern' }) });
		await expect(of('ask_profile', '--answers', 'a.json'), { stdout: /^Bob <b@example.com>, 7/ }, { cwd });
		await expect(of('ask_profile', '--answers', 'a.json', '--answer', 'name=Cid'), { stdout: /^Cid </ }, { cwd });
		await expect(of('ask_hint', '--answers', 'a.json'), { stdout: /Bern/ }, { cwd });
	});

	test(`${era}: a question that nobody can answer ends the call, with what to do`, async () => {
		const of = (tool, ...options) => call(tool, '--era', era, ...options);
		await expect(of('ask_profile'), { code: 1, stderr: /^cleat: the server asks "Who are you\?" and there is no terminal: answer name \(string\), mail \(string\), age \(integer\) with --answer KEY=VALUE, or use --decline\n$/ });
		await expect(of('ask_profile', '--answer', 'name=Ann'), { code: 1, stderr: /answer mail \(string\), age \(integer\) with/ });
		await expect(of('ask_profile', ...profile.slice(0, 4), '--answer', 'age=old'), { code: 1, stderr: /--answer: age must be an integer, not "old"/ });
		await expect(of('ask_confirm'), { code: 1, stderr: /the server asks "Delete 3 files\?" and there is no terminal: use .*--accept or --decline/ });
		await expect(of('ask_hint'), { code: 1, stderr: /asks for a model .*--answer sampling=TEXT/ });
		const { stderr } = await expect(of('ask_hint', '--json'), { code: 1 });
		assert.match(JSON.parse(stderr).error.step, /answer/);
		await expect(of('ask_confirm', '--decline'), { code: 5 });
	});
}

test('URLs are opened by people only', async () => {
	await expect(call('ask_url', '--answer', 'url=true'), { stdout: /^logged in\n$/ });
	await expect(call('ask_url', '--answer', 'url=false'), { code: 5 });
	await expect(call('ask_url'), { code: 1, stderr: /wants https:\/\/example\.com\/login\?x=1 to be opened and there is no terminal/ });
});

test('--answer and --answers that are none are said so', async () => {
	await expect(call('ask_confirm', '--answer', 'x'), { code: 2, stderr: /--answer is KEY=VALUE, not "x"/ });
	await expect(call('ask_confirm', '--answers', 'nowhere'), { code: 2, stderr: /cannot read nowhere/ });
	await expect(call('ask_confirm', '--answers', 'a'), { code: 2, stderr: /a: must be a JSON object/ }, { cwd: place({ a: '[1]' }) });
});

// ---- with one --------------------------------------------------------------------------------------

/** Answers prompts one by one: [pattern, what is typed]. Gives the screen and the exit code. */
async function converse(args, steps, options) {
	const child = terminal(args, options);
	let from = 0;
	for (const [pattern, typed] of steps) {
		const all = await heard(child, { test: text => pattern.test(text.slice(from)) });
		from = all.length;
		child.stdin.write(typed);
	}
	return within(child.ended, args.join(' '));
}

test('the progress bar comes back under a log message', async () => {
	const { stdout } = await within(terminal(['call', '-q', '--log', 'debug', '--', ...local('chatty_server.mjs'), '--', 'work']).ended, 'the call');
	const loud = await within(terminal(['call', '--log', 'debug', '--', ...local('chatty_server.mjs'), '--', 'work']).ended, 'the call');
	assert.doesNotMatch(stdout, /50%/);
	assert.match(loud.stdout, /50% half[^]*\r\x1b\[K\S*\[info\] working\S*\r\n\r\x1b\[K\[#+ +\] {2}50% half[^]*\r\x1b\[Kdone/);
});

test('a form is asked for field by field, and asked again until it fits', async () => {
	for (const era of ['legacy', 'modern']) {
		const { stdout, code } = await converse(call('ask_profile', '--era', era), [
			[/Who are you\?[^]*Name \(string, required\): Full name\s+> $/, '\n'],
			[/> $/, 'Ann\n'],
			[/mail[^]*> $/, 'no address\n'],
			[/mail: expected.*email[^]*> $|email[^]*> $/, 'ann@example.com\n'],
			[/choose, may be empty[^]*1  Red[^]*2  Green[^]*> $/, '2\n'],
			[/age \(integer, required\)[^]*> $/, 'young\n'],
			[/must be an integer[^]*> $/, '200\n'],
			[/150[^]*> $/, '30\n'],
			[/height[^]*> $/, '\n'],
			[/member \(boolean, default true\)[^]*> $/, 'n\n'],
			[/Send this answer\? \[Y\/n\] $/, '\n']
		]);
		assert.match(stdout, /Ann <ann@example\.com>, 30, green\r\n$/);
		assert.equal(code, 0);
	}
});

test('a question without fields is yes or no, and an empty line is no', async () => {
	const serve = ['call', '-q', '--', cleat, 'serve', place({ 'c.json': '{"tools": {"rm": {"confirm": "Really?", "cmd": ["echo", "gone"]}}}' }) + '/c.json', '--', 'rm'];
	for (const [typed, said, status] of [['\n', /declined/, 5], ['n\n', /declined/, 5], ['y\n', /gone\r\n$/, 0]]) {
		const { stdout, code } = await converse(serve, [[/The server asks:\s+Really\?\s+Do you agree\? \[y\/N\] $/, typed]]);
		assert.match(stdout, said);
		assert.equal(code, status);
	}
	await expect(serve, { code: 1, stderr: /asks "Really\?" and there is no terminal: use --accept or --decline\n$/ });
});

test('options answer some fields, the person the others', async () => {
	const { stdout } = await converse(call('ask_profile', ...profile.slice(0, 4), '--answer', 'height=1.8', '--answer', 'color=red'), [
		[/age[^]*> $/, '30\n'], [/member[^]*> $/, '\n'], [/\{.*"age":30,"member":true\}\s+Send this/, 'y\n']]);
	assert.ok(!stdout.includes('Full name'));
	assert.match(stdout, /Ann <ann@example\.com>, 30, red, member\r\n$/);
});

test('a person may say no, or nothing', async () => {
	// A form without fields is nothing but yes or no, and no is what is safe.
	for (const no of ['n\n', '\n']) assert.equal((await converse(call('ask_confirm'), [[/Delete 3 files\?[^]*Do you agree\? \[y\/N\] $/, no]])).code, 5);
	assert.match((await converse(call('ask_confirm'), [[/\[y\/N\] $/, 'y\n']])).stdout, /deleted\r\n$/);
	assert.notEqual((await converse(call('ask_profile'), [[/> $/, '\u0004']])).code, 0);
	assert.equal((await converse(call('ask_url'), [[/https:\/\/example\.com\/login\?x=1[^]*\[y\/N\] $/, '\n']])).code, 5);
	assert.match((await converse(call('ask_url'), [[/\[y\/N\] $/, 'y\n']])).stdout, /logged in\r\n$/);
});

test('a person plays the model', async () => {
	const { stdout, code } = await converse(call('ask_hint'), [[/an empty line declines\): $/, 'Paris\n']]);
	assert.match(stdout, /The server asks for a model's answer:[^]*user: [^]*Paris[^]*Paris/);
	assert.equal(code, 0);
	assert.notEqual((await converse(call('ask_hint'), [[/declines\): $/, '\n']])).code, 0);
});

test('server-everything asks at the terminal', async () => {
	const { stdout, code } = await converse(['call', '-q', '--', ...everything, '--', 'trigger-elicitation-request'],
		[[/String \(string, required\)[^]*> $/, 'Ann\n'], ...Array(12).fill([/> $/, '\n']), [/Send this answer\? \[Y\/n\] $/, '\n']]);
	assert.match(stdout, /"name": "Ann"/);
	assert.equal(code, 0);
});

// ---- Ctrl-C ----------------------------------------------------------------------------------------

test('Ctrl-C cancels the call, tells the server, and leaves no child', async () => {
	const log = path.join(place(), 'cancelled');
	const child = terminal(['call', '--', ...bad('slow'), '--', 'tool'], { env: { CANCELLED: log } });
	await heard(child, /half/);
	child.stdin.write('\u0003');
	const { code } = await within(child.ended, 'the end');
	assert.equal(code, 130);
	assert.equal(fs.readFileSync(log, 'utf8'), 'cancelled\n');
});

test('Ctrl-C ends a question, too', async () => {
	const child = terminal(call('ask_profile'));
	await heard(child, /> $/);
	child.stdin.write('\u0003');
	assert.equal((await within(child.ended, 'the end')).code, 130);
});

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]]) {
	test(`${signal} once, and twice`, async () => {
		const pids = path.join(place(), 'pid');
		const script = `echo $$ > ${pids}; exec ${bad('silent').map(w => `'${w}'`).join(' ')}`;
		for (const times of [1, 2]) {
			const child = start(['call', '-v', '--', 'sh', '-c', script, '--', 'tool']);
			await heard(child, /^> .*tools\/call/m, 'stderr');
			for (let i = 0; i < times; i++) child.kill(signal);
			const result = await within(child.ended, 'the end');
			assert.equal(result.code, code);
			assert.equal(result.signal, null);
			const pid = Number(fs.readFileSync(pids, 'utf8'));
			await eventually(() => !alive(pid), 'the end of the child');
		}
	});
}

// ---- what is seen ----------------------------------------------------------------------------------

test('progress is a bar on a terminal, and nothing elsewhere', async () => {
	const long = ['call', '-q', '--', ...everything, '--', 'trigger-long-running-operation', 'duration=0.4', 'steps=4'];
	assert.equal((await run(long)).stderr, '');
	const { stdout } = await within(terminal(['call', ...long.slice(2)]).ended, 'the end');
	assert.match(stdout, /\r\u001b\[K\[######## *\] +\d+% |\r\u001b\[K\[#+ +\] +\d+% /);
	assert.match(stdout, /\r\u001b\[KLong running operation completed/);
});

test('--json is indented for a person, a line for a program', async () => {
	const { stdout } = await within(terminal(['ls', '--json', '--color', 'never', '--', hello]).ended, 'ls');
	assert.match(stdout, /^\{\r\n  "/);
	assert.equal((await run(['ls', '--json', '--', hello])).stdout.split('\n').length, 2);
});

test('long descriptions are cut on a terminal', async () => {
	const { stdout } = await within(terminal(['ls', '-q', '--', ...everything]).ended, 'ls');
	const lines = stdout.replaceAll(/\u001b\[[\d;]*m/g, '').split('\r\n').filter(l => l.startsWith('     '));
	assert.ok(lines.length > 3);
	for (const line of lines) assert.ok([...line].length <= 80, line);
	assert.ok(lines.some(l => l.endsWith('…')));
});

test('a narrow terminal: signatures are broken between arguments, characters never, help has as many columns', async () => {
	const plain = async (args, columns) => (await within(terminal(args, { columns }).ended, args.join(' '))).stdout.replaceAll(/\u001b\[[\d;]*m/g, '').split('\r\n');
	for (const columns of [40, 60, 80]) {
		const lines = await plain(['ls', '-q', '--', ...bad('wide')], columns);
		// Half of these characters take two columns each.
		for (const line of lines) {
			const width = [...line].reduce((n, c) => n + (c >= '\u2e80' ? 2 : 1), 0);
			assert.ok(width <= columns, `${columns}: ${width}: ${line}`);
			assert.ok(!/\\x|\ufffd/.test(line), line);
		}
		assert.ok(lines.some(line => /^(short\(\))? +語+…$/.test(line)));
		assert.ok(lines.some(line => /^ {4}second: string/.test(line) || /, second: string/.test(line)));
		for (const args of [['help'], ['help', 'call'], ['help', 'server']])
			for (const line of await plain(args, columns)) if (!/^ +(cleat|echo) /.test(line)) assert.ok(line.length <= columns, `${args.join(' ')}: ${line}`);
	}
	// For a program a tool is one line.
	const { stdout } = await run(['ls', '-q', '--', ...bad('wide')]);
	assert.match(stdout, /^many\(first: string, second: string, .*sixth: string\)\n/m);
});

test('structured content beside other content is remarked on for a person, and is not in the way', async () => {
	const server = ['--', process.execPath, path.join(import.meta.dirname, 'lib/exact_server.mjs'), '{"content":[{"type":"text","text":"said"}],"structuredContent":{"a":1}}', '--', 'tool'];
	assert.equal((await within(terminal(['call', ...server]).ended, 'call')).stdout, 'said\r\ncleat: there is structured content, too: --json shows it\r\n');
	assert.equal((await within(terminal(['call', '-q', ...server]).ended, 'call')).stdout, 'said\r\n');
	const { stdout, stderr } = await run(['call', ...server]);
	assert.deepEqual([stdout, stderr], ['said\n', '']);
});

test('pictures are shown by terminals that can', async () => {
	const picture = ['call', '-q', '--', ...bad('picture'), '--', 'tool'];
	assert.match((await within(terminal(picture, { env: { TERM: 'xterm-kitty' } }).ended, 'call')).stdout, /\u001b_Ga=T,f=100,q=2,m=0;iVBORw0KGgo[A-Za-z0-9+/=]+\u001b\\/);
	assert.match((await within(terminal(picture, { env: { TERM_PROGRAM: 'iTerm.app' } }).ended, 'call')).stdout, /\u001b\]1337;File=inline=1;size=\d+:iVBORw0KGgo[A-Za-z0-9+/=]+\u0007/);
	assert.match((await within(terminal(picture).ended, 'call')).stdout, /\[image, image\/png, \d+ bytes; --save DIR/);
});

test('nothing that a server says reaches the terminal as it is', async () => {
	const server = ['--', ...bad('hostile')];
	for (const args of [['ls', ...server], ['show', ...server, '--', 'evil'], ['info', ...server], ['ping', ...server], ['call', ...server, '--', 'evil'],
		['call', '--json', ...server, '--', 'evil'], ['ls', '--jq', '.tools[].description', ...server], ['ls', '-v', ...server],
		['call', '--json', ...server, '--', '\u009b1m'], ['call', ...server, '--', 'evi'], ['call', ...server, '--', 'evil', 'y=1']]) {
		const { stdout } = await within(terminal(['--color', 'never', ...args], { env: { NO_COLOR: '1' } }).ended, args.join(' '));
		const found = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.exec(stdout.replaceAll('\r\u001b[K', ''));
		assert.equal(found, null, `${args.join(' ')}: ${JSON.stringify(stdout)}`);
		assert.ok(!/[^\r]\r[^\n\r]/.test(stdout.replaceAll('\r\u001b[K', '')), 'a carriage return');
	}
	// A pipe gets it all.
	assert.ok((await run(['call', ...server, '--', 'evil'])).stdout.includes('\u001b]0;title\u0007'));
});

test('nor does what it asks', async () => {
	for (const verb of [['call'], ['call', '-v']]) {
		const { stdout, code } = await converse([...verb, '--color', 'never', '--', ...bad('asks'), '--', 'tool'], [
			[/declines\): $/, 'model\n'], [/> $/, '\n'], [/> $/, '2\n'], [/\[Y\/n\] $/, '\n']]);
		assert.equal(code, 0, stdout);
		assert.match(stdout, /asked\r\n$|asked/);
		const found = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.exec(stdout.replaceAll('\r\u001b[K', ''));
		assert.equal(found, null, JSON.stringify(stdout));
	}
});

await runCases();
