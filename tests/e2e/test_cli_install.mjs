// `cleat install` and `cleat uninstall`: the files of four programs, written with care. The difference is
// shown first, a backup is kept, comments stay, a broken file is left alone.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleat, heard, hello, place, run, terminal } from './lib/cli.mjs';
import { expect } from './lib/expect.mjs';
import { run as runCases, test } from './lib/tap.mjs';

// There is no terminal to ask on.
const yes = args => (args[1] && /install/.test(args[0]) ? [args[0], '--yes', ...args.slice(1)] : args);
const good = (args, options) => expect(yes(args), {}, options);
const fails = (code, stderr, args, options) => expect(yes(args), { code, stderr }, options);
const self = fs.realpathSync(cleat);
const read = (...parts) => fs.readFileSync(path.join(...parts), 'utf8');
const entry = (directory, file, top, name) => JSON.parse(read(directory, file))[top][name];
const backups = directory => fs.readdirSync(directory).filter(name => name.endsWith('.bak'));

const programs = [
	['claude-code', [], '.claude.json', 'mcpServers', true],
	['claude-desktop', [], '.config/Claude/claude_desktop_config.json', 'mcpServers', false],
	['cursor', [], '.cursor/mcp.json', 'mcpServers', false],
	['vscode', [], '.config/Code/User/mcp.json', 'servers', true],
	['claude-code', ['--project'], '.mcp.json', 'mcpServers', true],
	['cursor', ['--project'], '.cursor/mcp.json', 'mcpServers', false],
	['vscode', ['--project'], '.vscode/mcp.json', 'servers', true]
];

for (const [client, more, file, top, typed] of programs)
	test(`${client} ${more.join('')}: the server is there, works by its name, and goes again`, async () => {
		const home = place(), cwd = fs.realpathSync(place());
		const options = { home, cwd };
		const at = more.length ? cwd : home;
		await good(['install', client, ...more, '--name', 'adder', '--', hello], options);
		assert.deepEqual(entry(at, file, top, 'adder'), { ...(typed ? { type: 'stdio' } : {}), command: hello, args: [] });
		assert.equal((await good(['call', 'adder', 'add', 'a=40', 'b=2'], options)).stdout, '42\n');
		assert.equal(fs.statSync(path.join(at, file)).mode & 0o777, 0o600, 'configurations hold secrets');
		await good(['uninstall', client, ...more, '--name', 'adder'], options);
		assert.deepEqual(JSON.parse(read(at, file)), { [top]: {} });
		await fails(5, /has no server "adder"/, ['uninstall', client, ...more, '--name', 'adder'], options);
	});

test('serve: this very program, paths made absolute, checked before', async () => {
	const cwd = fs.realpathSync(place({ 'notes/a.txt': 'a', 'tools.json': '{"tools": {}}' }));
	await good(['install', './mcp.json', '--name', 'notes', '--', 'serve', '--dir', 'notes', '--sh=hi(): echo hi', './tools.json'], { cwd });
	assert.deepEqual(entry(cwd, 'mcp.json', 'mcpServers', 'notes'),
		{ command: self, args: ['serve', '--dir', `${cwd}/notes`, '--sh=hi(): echo hi', `${cwd}/tools.json`] });
	assert.match((await good(['call', '--config', 'mcp.json', 'notes', 'hi'], { cwd })).stdout, /^hi\n/);
	await fails(7, /nothing was changed/, ['install', './mcp.json', '--name', 'bad', '--', 'cleat', 'serve', '--dir', 'nowhere'], { cwd });
	assert.equal(JSON.parse(read(cwd, 'mcp.json')).mcpServers.bad, undefined);
});

test('serve: variables that only this shell has are remarked, those of --env count', async () => {
	const cwd = place({ 'serve.json': '{"secrets": {"key": {"env": "E2E_KEY"}}, "tools": {"t": {"cmd": ["true"], "env": {"K": "${key}"}}}}' });
	const args = (...more) => ['install', './mcp.json', '--name', 'x', '--force', ...more, '--', 'serve', 'serve.json'];
	await fails(7, /E2E_KEY is not set[^]*nothing was changed/, args(), { cwd });
	const { stderr } = await good(args(), { cwd, env: { E2E_KEY: 'k' } });
	assert.match(stderr, /needs variables of this shell[^]*--env NAME=VALUE[^]*without them:\ncleat serve: .*E2E_KEY is not set\n/);
	for (const env of [{}, { E2E_KEY: 'k' }])
		assert.doesNotMatch((await good(args('-e', 'E2E_KEY=v'), { cwd, env })).stderr, /variables of this shell|not set/);
	await fails(2, /what is to be started goes after two dashes: -- serve \.\.\./, ['install', './mcp.json', '--name', 'x', 'serve', 'serve.json'], { cwd });
});

test('a URL with headers, and a command with variables', async () => {
	const cwd = place();
	await good(['install', './mcp.json', '--name', 'far', '-H', 'Authorization: Bearer ${TOKEN}', '--', 'https://example.com/mcp'], { cwd });
	await good(['install', './mcp.json', '--name', 'near', '-e', 'A=1=2', '-e', 'B=', '--', 'node', 'x y.js'], { cwd });
	assert.deepEqual(JSON.parse(read(cwd, 'mcp.json')), { mcpServers: {
		far: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
		near: { command: 'node', args: ['x y.js'], env: { A: '1=2', B: '' } } } });
});

test('without a terminal --yes is needed', async () => {
	const cwd = place({ 'mcp.json': '{"mcpServers": {"y": {"command": "true"}}}' });
	for (const args of [['install', './mcp.json', '--name', 'x', '--', 'true'], ['uninstall', './mcp.json', 'y']])
		await expect(args, { code: 2, stdout: /^--- \.\/mcp\.json/, stderr: /nothing was changed, as there is no terminal to ask on: use --yes/ }, { cwd });
	assert.deepEqual(backups(cwd), []);
});

test('programs have to be there, and relative paths become absolute', async () => {
	const cwd = fs.realpathSync(place({ 'server.js': '', 'sub/run': '#!/bin/sh\n', 'plain': '', 'module/x': '' }));
	fs.chmodSync(path.join(cwd, 'sub/run'), 0o755);
	const install = (...words) => ['install', './mcp.json', '--force', '--name', 'x', '--', ...words];
	for (const [words, written] of [
		[['cleat', 'ping'], [self, 'ping']],
		[['node', 'server.js', '--data=./new.db', '-m', 'module', 'other.js'], ['node', `${cwd}/server.js`, `--data=${cwd}/new.db`, '-m', 'module', 'other.js']],
		[['sub/run', '../up', '--flag=module', 'https://a.example/x.js'], [`${cwd}/sub/run`, `${cwd}/../up`, '--flag=module', 'https://a.example/x.js']]
	]) {
		await good(install(...words), { cwd });
		const { command, args } = entry(cwd, 'mcp.json', 'mcpServers', 'x');
		assert.deepEqual([command, ...args], written);
	}
	for (const program of ['./nothing', 'sub', 'plain', './plain', 'no-such-program-anywhere', 'unix:/run/x.sock', ''])
		await fails(2, /there is no program .*; nothing was changed/, install(program), { cwd });
});

test('a URL is for programs that take one', async () => {
	const home = place(), cwd = place(), url = 'https://example.com/mcp';
	for (const file of ['claude-desktop', './claude_desktop_config.json'])
		await fails(2, /is for commands only/, ['install', file, '--name', 'x', '--', url], { home, cwd });
	for (const file of ['claude-code', 'cursor', 'vscode'])
		await good(['install', file, '--name', 'x', '--', url], { home, cwd });
	await fails(2, /--env is for a command/, ['install', 'cursor', '--name', 'y', '-e', 'A=1', '--', url], { home, cwd });
	await fails(2, /--header is for a URL/, ['install', 'cursor', '--name', 'y', '-H', 'A: 1', '--', 'true'], { home, cwd });
});

test('the difference is shown, a backup is kept, comments stay', async () => {
	const before = '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "x" }, // the first\n  },\n}\n';
	const cwd = place({ 'mcp.json': before });
	fs.chmodSync(path.join(cwd, 'mcp.json'), 0o644);
	const dry = await good(['install', 'mcp.json', '--name', 'b', '--dry-run', '--', 'true'], { cwd });
	const diff = ['--- mcp.json', '+++ mcp.json', '@@ -2,5 +2,9 @@', '   // mine', '   "mcpServers": {', '     "a": { "command": "x" }, // the first',
		'+    "b": {', '+      "command": "true",', '+      "args": []', '+    },', '   },', ' }', ''].join('\n');
	assert.equal(dry.stdout, diff);
	assert.equal(read(cwd, 'mcp.json'), before, '--dry-run writes nothing');
	assert.deepEqual(backups(cwd), []);
	const done = await good(['install', 'mcp.json', '--name', 'b', '--', 'true'], { cwd });
	assert.equal(done.stdout, diff);
	assert.equal(backups(cwd).length, 1);
	assert.equal(read(cwd, backups(cwd)[0]), before);
	assert.match(done.stderr, /mcp\.json was written; the old version is .*\.bak/);
	assert.equal(fs.statSync(path.join(cwd, 'mcp.json')).mode & 0o777, 0o644);
	await good(['uninstall', 'mcp.json', 'b'], { cwd });
	assert.equal(read(cwd, 'mcp.json'), before);
	assert.equal(backups(cwd).length, 2);
	assert.deepEqual(fs.readdirSync(cwd).filter(name => name.endsWith('.new')), []);
});

test('a name that is taken: the same is fine, another one needs --force', async () => {
	const cwd = place();
	await good(['install', './m.json', '--name', 'x', '--', 'true'], { cwd });
	const again = await good(['install', './m.json', '--name', 'x', '--', 'true'], { cwd });
	assert.match(again.stderr, /exactly like this/);
	await fails(1, /already has a server "x".*--force/, ['install', './m.json', '--name', 'x', '--', 'false'], { cwd });
	await good(['install', './m.json', '--name', 'x', '--force', '--', 'false'], { cwd });
	assert.equal(entry(cwd, 'm.json', 'mcpServers', 'x').command, 'false');
});

test('what cannot be changed safely is left alone, with the reason', async () => {
	const cwd = place({ 'broken.json': '{"mcpServers": {', 'list.json': '[]', 'odd.json': '{"mcpServers": []}', 'd/x': '',
		'twice.json': '{"mcpServers": {"x": {"command": "a"}, "x": {"command": "b"}}}' });
	const install = (file, ...more) => ['install', file, '--name', 'x', ...more, '--', 'true'];
	for (const [file, pattern] of [['broken.json', /broken\.json: .*nothing was changed/], ['list.json', /expected an object; nothing/], ['odd.json', /expected an object in mcpServers; nothing/],
		['twice.json', /"x" is there twice; remove one of them first/]]) {
		const before = read(cwd, file);
		await fails(1, pattern, install(file), { cwd });
		assert.equal(read(cwd, file), before);
	}
	await fails(1, /d\/x\/m\.json/, install('d/x/m.json'), { cwd });
	fs.symlinkSync('nowhere.json', path.join(cwd, 'dangling.json'));
	await fails(1, /dangling\.json: a broken symbolic link/, install('./dangling.json'), { cwd });
	assert.ok(fs.lstatSync(path.join(cwd, 'dangling.json')).isSymbolicLink());
	execFileSync('mkfifo', [path.join(cwd, 'pipe.json')]);
	await fails(1, /pipe\.json: not a file/, install('./pipe.json'), { cwd });
	await fails(1, /not a file/, install('./d'), { cwd });
	await fails(2, /unknown program "cursr", did you mean cursor\?/, install('cursr'), { cwd });
	await fails(2, /unknown program "emacs"/, install('emacs'), { cwd });
	await fails(2, /Claude Desktop has no file for a project/, install('claude-desktop', '--project'), { cwd });
	await fails(2, /--name NAME is missing/, ['install', 'cursor', '--', 'true'], { cwd });
	await fails(2, /which server\?/, ['install', 'cursor', '--name', 'x'], { cwd });
	await fails(2, /into which program/, ['install', '--name', 'x', '--', 'true'], { cwd });
});

test('the file of an API is absolute, its address stays', async () => {
	const cwd = place({ 'api.json': JSON.stringify({ openapi: '3.0.0', paths: { '/a': { get: {} } } }) });
	for (const words of [['--openapi', 'api.json=http://127.0.0.1:1/v1'], ['--openapi=./api.json=http://127.0.0.1:1/v1']]) {
		await good(['install', './m.json', '--force', '--name', 'x', '--', 'serve', ...words], { cwd });
		assert.ok(entry(cwd, 'm.json', 'mcpServers', 'x').args.at(-1).endsWith(`${fs.realpathSync(cwd)}/api.json=http://127.0.0.1:1/v1`), JSON.stringify(entry(cwd, 'm.json', 'mcpServers', 'x')));
	}
});

test('a symbolic link stays one', async () => {
	const cwd = place({ 'real/mcp.json': '{}' });
	fs.symlinkSync('real/mcp.json', path.join(cwd, 'mcp.json'));
	await good(['install', './mcp.json', '--name', 'x', '--', 'true'], { cwd });
	assert.ok(fs.lstatSync(path.join(cwd, 'mcp.json')).isSymbolicLink());
	assert.equal(entry(cwd, 'real/mcp.json', 'mcpServers', 'x').command, 'true');
});

test('on a terminal it asks first', async () => {
	const cwd = place();
	const asked = terminal(['install', './m.json', '--name', 'x', '--', 'true'], { cwd });
	await heard(asked, /Write this\?/);
	asked.stdin.write('n\n');
	const { code, stdout } = await asked.ended;
	assert.match(stdout, /Write this\? \[Y\/n\][^]*nothing was changed/);
	assert.equal(code, 1);
	assert.ok(!fs.existsSync(path.join(cwd, 'm.json')));
});

/* These programs write their files themselves: what they wrote while a person was thinking must not be lost. */
test('a file that has changed since the question is left alone', async () => {
	const cwd = place({ 'm.json': '{}' });
	const asked = terminal(['install', './m.json', '--name', 'x', '--', 'true'], { cwd });
	await heard(asked, /Write this\?/);
	fs.writeFileSync(path.join(cwd, 'm.json'), '{"theirs": 1}');
	asked.stdin.write('y\n');
	const { code, stdout } = await asked.ended;
	assert.match(stdout, /has changed in the meantime; nothing was written/);
	assert.equal(code, 1);
	assert.equal(fs.readFileSync(path.join(cwd, 'm.json'), 'utf8'), '{"theirs": 1}');
	assert.deepEqual(fs.readdirSync(cwd).filter((name) => name.startsWith('m.json')), ['m.json']);
});

await runCases();
