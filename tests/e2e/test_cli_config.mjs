// Servers of the configuration files that people have already: those of five programs, with comments,
// variables and mistakes. Every file is read, none is written.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fixture, hello, listen, place, run } from './lib/cli.mjs';
import { fails, good } from './lib/expect.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const json = value => JSON.stringify(value);
const stdio = { command: hello };

/** One file for each program, as it writes them. */
function files(url) {
	return {
		cwd: {
			'.mcp.json': json({ mcpServers: { project: { type: 'stdio', command: hello, args: [], env: {} }, both: stdio } }),
			'.vscode/mcp.json': `{
	// VS Code lets people write comments
	"inputs": [{ "type": "promptString", "id": "token", "password": true }],
	"servers": {
		"code": { "type": "http", "url": "${url}", "headers": { "X-Token": "\${env:TOKEN}", }, },
		"asks": { "type": "http", "url": "${url}", "headers": { "X-Token": "\${input:token}" } }, /* trailing commas, too */
		"local": { "type": "stdio", "command": "\${workspaceFolder}/run me", "env": { "N": 3, "GONE": null } },
	},
}`,
			'.cursor/mcp.json': json({ mcpServers: { cursor: { url, headers: { Authorization: 'Bearer ${TOKEN:-none}' } }, both: { command: '/does/not/exist' } } })
		},
		home: {
			'.cursor/mcp.json': json({ mcpServers: { 'cursor-user': { command: '${userHome}/bin/hello' } } }),
			'.config/Claude/claude_desktop_config.json': json({ globalShortcut: '', mcpServers: { desktop: { command: hello, args: [] } } })
		}
	};
}

function setUp(url, more = {}) {
	const { cwd, home } = files(url);
	const here = place({ ...cwd, 'run me': `#!/bin/sh\nexec ${hello}\n` });
	fs.chmodSync(path.join(here, 'run me'), 0o755);
	const claude = { numStartups: 3, mcpServers: { 'claude-user': stdio, both: { command: '/not/this/one' } },
		projects: { [fs.realpathSync(here)]: { allowedTools: [], mcpServers: { 'claude-local': stdio } }, '/elsewhere': { mcpServers: { other: stdio } } } };
	const there = place({ ...home, '.claude.json': json(claude), ...more });
	fs.mkdirSync(path.join(there, 'bin'));
	fs.symlinkSync(hello, path.join(there, 'bin/hello'));
	return { cwd: fs.realpathSync(here), home: there };
}

test('servers of five programs are found and reached', async t => {
	const options = { ...setUp(await listen(t)), env: { TOKEN: 'x' } };
	for (const name of ['project', 'code', 'local', 'cursor', 'claude-local', 'claude-user', 'cursor-user', 'desktop', 'both'])
		assert.equal(await good(['call', '-q', name, 'add', 'a=2', 'b=40'], options), '42\n', name);
	assert.deepEqual((await good(['ls', '--names'], options)).trim().split('\n').sort(),
		['asks', 'both', 'claude-local', 'claude-user', 'code', 'cursor', 'cursor-user', 'desktop', 'local', 'project']);
	assert.match(await good(['ls'], options), new RegExp(`^desktop +${hello}$`, 'm'));
	assert.match((await run(['ls', 'other'], options)).stderr, /there is no server "other"/);
});

test('a foreign .mcp.json does not get $CLEAT_BEARER, and no program does', async t => {
	const seen = [];
	const thief = http.createServer((req, res) => { seen.push(req.headers.authorization); res.writeHead(401).end(); });
	await new Promise(resolve => thief.listen(0, '127.0.0.1', resolve));
	t.use({ end: () => new Promise(resolve => thief.close(() => resolve([]))) });
	const origin = `http://127.0.0.1:${thief.address().port}`, url = `${origin}/mcp`;
	const cwd = place({ '.mcp.json': json({ mcpServers: { it: { url }, header: { url, headers: { A: '${CLEAT_BEARER}' } } } }) });
	const at = async (word, env) => {
		seen.length = 0;
		const { stderr } = await run(['ls', word], { cwd, env: { CLEAT_BEARER: 'secret', ...env } });
		return [[...new Set(seen)], stderr];
	};
	for (const [word, env, sent, said] of [
		['it', {}, undefined, /CLEAT_BEARER is not sent: the address is from \.mcp\.json; CLEAT_BEARER_ORIGIN says/],
		[url, {}, 'Bearer secret', /401/],
		['it', { CLEAT_BEARER_ORIGIN: `https://a.example, ${origin}` }, 'Bearer secret', /401/],
		['it', { CLEAT_BEARER_ORIGIN: `${origin}1` }, undefined, /does not name this address/],
		[url, { CLEAT_BEARER_ORIGIN: 'https://a.example' }, undefined, /does not name this address/]
	]) {
		const [auth, stderr] = await at(word, env);
		assert.deepEqual(auth, [sent], `${word} ${json(env)}`);
		assert.match(stderr, said);
	}
	const [auth, stderr] = await at('header', {});
	assert.deepEqual(auth, []);
	assert.match(stderr, /headers\.A: \$\{CLEAT_BEARER\} is not for files/);
	const child = ['--', 'sh', '-c', 'echo "has ${CLEAT_BEARER-nothing}" >&2'];
	for (const [args, has] of [[['ls'], 'nothing'], [['record', 'x'], 'nothing'], [['ls', '-e', 'CLEAT_BEARER'], 'secret']])
		assert.match((await run([...args, ...child], { cwd: place(), env: { CLEAT_BEARER: 'secret' } })).stderr, new RegExp(`has ${has}$`, 'm'));
});

test('cleat config shows what is where, and what hides what', async t => {
	const url = await listen(t);
	const options = setUp(url);
	const text = await good(['config'], options);
	assert.deepEqual(text.split('\n').filter(line => /^\S/.test(line)), [
		'~/.claude.json (Claude Code, for this directory)',
		'.mcp.json (this project)',
		'.vscode/mcp.json (VS Code)',
		'.cursor/mcp.json (Cursor)',
		'~/.claude.json (Claude Code)',
		'~/.cursor/mcp.json (Cursor)',
		'~/.config/Claude/claude_desktop_config.json (Claude Desktop)'
	]);
	assert.match(text, new RegExp(`^  both +stdio +${hello}$`, 'm'));
	assert.match(text, /^  both +stdio +\/does\/not\/exist {2}\(hidden by \.mcp\.json\)$/m);
	assert.match(text, /^  both +stdio +\/not\/this\/one {2}\(hidden by \.mcp\.json\)$/m);
	assert.match(text, new RegExp(`^  code +http +${url}$`, 'm'));
	assert.match(await good(['config', 'both'], options), /^\.mcp\.json \(this project\)\n\{[^]*\}\nhides the one of \.cursor\/mcp\.json\nhides the one of ~\/\.claude\.json\n$/);
	const all = JSON.parse(await good(['config', '--json'], options));
	assert.equal(all.filter(s => s.name === 'both').length, 3);
	assert.deepEqual(all.filter(s => s.name === 'both' && !s.hidden).map(s => s.file), ['.mcp.json']);
	await fails(5, /there is no server "bth", did you mean "both"\?/, ['config', 'bth'], options);
	assert.match((await run(['config'], { cwd: place(), home: place() })).stderr, /no servers are configured in ~\/\.claude\.json, \.mcp\.json/);
});

test('whoever runs another server than the one of the user is told', async t => {
	const options = setUp(await listen(t));
	const { stderr } = await run(['ls', 'both'], options);
	assert.match(stderr, /^cleat: "both" is the one of \.mcp\.json, not of ~\/\.claude\.json$/m);
	assert.equal((await run(['ls', 'project'], options)).stderr, '');
});

test('a variable that is not set is an error with its place', async t => {
	const options = setUp(await listen(t));
	const { stderr } = await fails(2, /^cleat: \.vscode\/mcp\.json:5:\d+: servers\.code\.headers\.X-Token: \$\{TOKEN\} is not set$/m, ['ls', 'code'], options);
	const column = Number(/:5:(\d+):/.exec(stderr)[1]);
	const line = fs.readFileSync(path.join(options.cwd, '.vscode/mcp.json'), 'utf8').split('\n')[4];
	assert.ok(line.slice(column - 1).startsWith('"${env:TOKEN}"'));
	await fails(2, /servers\.asks\.headers\.X-Token: \$\{input:token\} is a question to the user of an editor/, ['ls', 'asks'], options);
});

test('headers and environment arrive with their variables', async t => {
	const echo = await listen(t, fixture);
	const cwd = place({ 'c.json': json({ servers: { here: { url: echo, headers: { Authorization: 'Bearer ${SECRET}' } },
		file: { command: fixture, envFile: 'env' } } }), env: '# comment\nexport A=1\n  B = "two words"  \nnothing\n' });
	assert.equal(await good(['call', '--config', 'c.json', 'here', 'echo', 'text=x'], { cwd, env: { SECRET: 's' } }), 'x\n');
	const { stderr } = await run(['call', '-vv', '--config', 'c.json', 'here', 'echo', 'text=x'], { cwd, env: { SECRET: 's' } });
	assert.match(stderr, /^> Authorization: \.\.\.$/m);
	assert.equal(await good(['call', '--config', 'c.json', 'file', 'echo', 'text=y'], { cwd }), 'y\n');
});

test('--config means that file and no other', async t => {
	const options = setUp(await listen(t));
	fs.writeFileSync(path.join(options.cwd, 'own.json'), json({ mcpServers: { own: stdio } }));
	assert.equal(await good(['ls', '--config', 'own.json', '--names'], options), 'own\n');
	assert.equal(await good(['call', '--config', 'own.json', 'own', 'add', 'a=1', 'b=1'], options), '2\n');
	await fails(2, /there is no server "project"/, ['ls', '--config', 'own.json', 'project'], options);
	await fails(2, /^cleat: nowhere\.json: No such file/, ['ls', '--config', 'nowhere.json', 'own'], options);
});

test('mistakes in files are said with line and column', async () => {
	const broken = place({ '.mcp.json': '{\n  "mcpServers": {\n    "a": { "command": x }\n  }\n}\n', 'ok.json': json({ mcpServers: {
		neither: { args: [] }, number: { command: 5, args: 'x' }, args: { command: 'x', args: { a: 1 } }, word: 3 } }) });
	const { stderr } = await run(['ls', 'a'], { cwd: broken });
	assert.match(stderr, /^cleat: \.mcp\.json: line 3, column 23: /m);
	assert.match(stderr, /^cleat: there is no server "a"/m);
	await fails(2, /^cleat: \.mcp\.json: line 3, column 23/, ['ls', '--config', '.mcp.json', 'a'], { cwd: broken });
	for (const [name, pattern] of [
		['neither', /ok\.json:1:\d+: mcpServers\.neither: has neither "command" nor "url"/],
		['args', /ok\.json:1:\d+: mcpServers\.args\.args: must be an array/],
		['word', /mcpServers\.word: has neither/]
	])
		await fails(2, pattern, ['ls', '--config', 'ok.json', name], { cwd: broken });
	// A file of another program that is broken does not keep anybody from anything.
	assert.equal(await good(['call', '-q', '--', hello, '--', 'add', 'a=1', 'b=2'], { cwd: broken }), '3\n');
});

test('no file is written', async t => {
	const options = setUp(await listen(t));
	const all = () => [options.cwd, options.home].flatMap(d => fs.readdirSync(d, { recursive: true }).map(f => path.join(d, f)))
		.filter(f => fs.statSync(f).isFile()).map(f => [f, fs.statSync(f).mtimeMs, fs.readFileSync(f, 'latin1')]);
	const before = all();
	for (const args of [['config'], ['ls'], ['ls', 'project'], ['call', 'desktop', 'add', 'a=1', 'b=2']]) await run(args, options);
	assert.deepEqual(all(), before);
});

await runCases();
