// What `cleat completion` prints, in the shells themselves: bash and zsh at a terminal, where a Tab is a Tab, and
// fish by its own `complete -C`. A shell that is not installed is skipped by name.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { bad, cleat, heard, hello, listen, place, run } from './lib/cli.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const shells = ['bash', 'zsh', 'fish'].filter(name => spawnSync('which', [name]).status === 0);
const verbs = (await run(['man', '--list'])).stdout.trim().split('\n').filter(n => n !== 'cleat').map(n => n.slice(6));

// Names that are commands where a shell looks at them.
const evil = ['$(touch pwned)', '`touch pwned`', 'x;touch pwned;', 'x$(touch pwned)'];

function ground() {
	const files = Object.fromEntries([['adder', { command: hello }], ['broken', { command: bad('names')[0], args: bad('names').slice(1) }], ...evil.map(name => [name, { command: 'true' }])]);
	return place({ '.mcp.json': JSON.stringify({ mcpServers: files }), 'some-file': '' });
}

const environment = () => ({ PATH: `${path.dirname(cleat)}:${process.env.PATH}`, HOME: place(), TERM: 'xterm', LANG: 'C.UTF-8' });

/** An interactive shell on a terminal of its own: `type(text, pattern)` waits for what the screen then says. */
async function interactive(t, shell, cwd) {
	const command = { bash: 'bash --norc --noprofile -i', zsh: 'zsh -f -i' }[shell];
	const child = spawn('script', ['-qefc', `stty cols 300; exec ${command}`, '/dev/null'], { cwd, env: { ...environment(), SHELL: '/bin/sh' }, detached: true });
	const ended = new Promise(resolve => child.once('close', resolve));
	child.result = { stdout: '', stderr: '' };
	child.stdout.setEncoding('utf8').on('data', chunk => { child.result.stdout += chunk; child.heard?.(child.result); });
	t.use({ end: async () => { process.kill(-child.pid, 'SIGKILL'); await ended; return []; } });
	child.type = async (text, pattern) => {
		child.result.stdout = '';
		child.stdin.write(text);
		return heard(child, pattern);
	};
	const start = { bash: `bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; eval "$(cleat completion bash)"`,
		zsh: 'unsetopt beep zle_bracketed_paste; PS1="> "; autoload -U compinit; compinit -u -D; eval "$(cleat completion zsh)"' }[shell];
	await child.type(`${start}; echo is-$((1 + 1))-ready\n`, /is-2-ready/);
	return child;
}

test('every verb is in it, and the shells accept it', async () => {
	for (const shell of ['bash', 'zsh', 'fish']) {
		const { stdout, code } = await run(['completion', shell]);
		assert.equal(code, 0);
		for (const verb of verbs) assert.ok(stdout.includes(verb), `${shell}: ${verb}`);
		if (!shells.includes(shell)) continue;
		const file = path.join(place({ completion: stdout }), 'completion');
		const { status, stderr } = spawnSync(shell, ['-n', file]);
		assert.equal(status, 0, `${shell}: ${stderr}`);
		assert.equal(String(stderr), '');
	}
	const { code, stderr } = await run(['completion']);
	assert.equal(code, 2);
	assert.match(stderr, /for which shell/);
});

// What is typed, with Tabs, and what running the line then says.
const lines = url => [
	['cleat pin\t adder\n', /adder answers after/],
	['cleat ls --nam\t adder\n', /\nadd\r/],
	['cleat ls --era leg\t --names adder\n', /\nadd\r/],
	['cleat info --era=leg\t adder\n', /2025-11-25/],
	['cleat call add\t a\ta=2 b=40\n', /\n42\r/],
	['cleat call --timeout 9s --era modern add\t a\ta=2 b=40\n', /\n42\r/],
	['cleat call -e A=1 adder a\ta=2 b=40\n', /\n42\r/],
	[`cleat call ${url} a\ta=2 b=40\n`, /\n42\r/],
	['cleat ls --config some-f\t adder\n', /some-file/],
	['cleat help completi\t\n', /print completions for a shell/],
	['cleat completion ba\t | head -1\n', /# bash completion/],
	['cleat -q pin\t adder\n', /adder answers after/],
];

for (const shell of ['bash', 'zsh'])
	test(`${shell}: verbs, options, values, servers and live names${shells.includes(shell) ? '' : ` # SKIP ${shell} is not installed`}`, async t => {
		if (!shells.includes(shell)) return;
		const terminal = await interactive(t, shell, ground());
		for (const [typed, said] of lines(await listen(t)))
			if (!(shell === 'zsh' && typed.startsWith('cleat -q'))) await terminal.type(typed, said);
	});

for (const shell of ['bash', 'zsh'])
	test(`${shell}: names of servers and tools are never run${shells.includes(shell) ? '' : ` # SKIP ${shell} is not installed`}`, async t => {
		if (!shells.includes(shell)) return;
		const cwd = ground(), terminal = await interactive(t, shell, cwd);
		let n = 0;
		for (const typed of ['cleat call ', 'cleat call broken ', 'cleat call x', 'cleat show broken x', 'cleat call \\$', "cleat call '$", 'cleat call "$'])
			await terminal.type(`${typed}\t\t\u0003\necho at-$((1 + ${++n}))\n`, new RegExp(`\\nat-${1 + n}\r`));
		assert.ok(!fs.existsSync(path.join(cwd, 'pwned')));
		// The only one that begins so gets onto the line quoted: a name, and no command.
		await terminal.type('cleat show --color never broken x\t\n', /\nx;touch pwned;/);
		assert.ok(!fs.existsSync(path.join(cwd, 'pwned')));
	});

test(`fish: verbs, options, values, servers and live names${shells.includes('fish') ? '' : ' # SKIP fish is not installed'}`, async t => {
	if (!shells.includes('fish')) return;
	const url = await listen(t), cwd = ground();
	const complete = line => {
		const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', `cleat completion fish | source; complete -C ${JSON.stringify(line)}`], { cwd, env: environment() });
		assert.equal(String(stderr), '');
		return String(stdout).split('\n').filter(l => l).map(l => l.split('\t')[0]);
	};
	assert.deepEqual(complete('cleat pin'), ['ping']);
	assert.deepEqual(complete('cleat ').sort(), verbs.filter(v => v !== 'man').sort());
	assert.deepEqual(complete('cleat call --ti'), ['--timeout']);
	assert.deepEqual(complete('cleat call --era '), ['auto', 'legacy', 'modern']);
	assert.deepEqual(complete('cleat call ad'), ['adder']);
	assert.deepEqual(complete('cleat call adder '), ['add']);
	assert.deepEqual(complete('cleat call --timeout 9s -e A=1 adder '), ['add']);
	assert.deepEqual(complete(`cleat show ${url} `), ['add']);
	assert.deepEqual(complete('cleat completion '), ['bash', 'fish', 'zsh']);
	assert.ok(complete('cleat help co').includes('completion'));
	assert.deepEqual(complete('cleat call adder add file=some-f'), ['file=some-file']);
	assert.deepEqual(complete('cleat call -- some-f'), ['some-file']);
	complete('cleat call ');
	complete('cleat call broken ');
	assert.ok(!fs.existsSync(path.join(cwd, 'pwned')));
});

await runCases();
