// `cleat check`: every rule finds what it is for, and nothing else; good servers are good; nothing is called
// that could do harm.

import assert from 'node:assert/strict';
import { example, fixture, hello, listen, place, run } from './lib/cli.mjs';
import { NodeServer, everything, freePort, local, packaged } from './lib/node_server.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const broken = fault => local('broken_server.mjs', fault);

async function check(...args) {
	const { stdout, stderr, code } = await run(['check', '--json', ...args]);
	assert.ok(stdout, stderr);
	const said = JSON.parse(stdout);
	assert.equal(said.errors, said.findings.filter(f => f.severity === 'error').length);
	assert.equal(said.warnings, said.findings.filter(f => f.severity === 'warning').length);
	for (const f of said.findings)
		assert.ok(f.rule && f.where && f.text && f.fix, JSON.stringify(f));
	return { ...said, code, stderr };
}
const brief = findings => findings.map(f => `${f.severity} ${f.rule} ${f.where}`);
/** Without what is only a remark, or about texts. */
const serious = said => brief(said.findings.filter(f => f.severity !== 'note' && !/description/.test(f.rule)));

// ---- good ones -------------------------------------------------------------------------------------

for (const name of ['hello', 'weather', 'resources', 'prompts', 'typed', 'content'])
	test(`good: examples/${name}`, async () => {
		const said = await check('--', example(name));
		assert.deepEqual(serious(said), []);
		assert.equal(said.code, 0);
	});

test('good: ours, legacy and over HTTP', async t => {
	const url = await listen(t);
	for (const era of ['legacy', 'modern']) assert.deepEqual(serious(await check('--era', era, url)), []);
});

test('the fixture: nothing but its names, schemas and what it does on purpose', async () => {
	const said = await check('--', fixture);
	assert.deepEqual(brief(said.findings.filter(f => f.severity === 'error')), ['error name tool größe']);
});

test('server-everything over pipes and HTTP', async t => {
	const expected = ['warning unknown-tool an unknown tool'];
	assert.deepEqual(serious(await check('--', ...everything('stdio'))), expected);
	const port = await freePort();
	t.use(await NodeServer.start(everything('streamableHttp'), { ready: /listening|running|started/i, port, env: { PORT: String(port) } }));
	// Its answer to the question of a newer client has the id null, which is not held against it.
	assert.deepEqual(serious(await check(`http://127.0.0.1:${port}/mcp`)), expected);
});

test('an error with the code 0 is an answer', async () => {
	const { findings } = await check('--', ...local('broken_server.mjs', 'zero'));
	for (const what of ['method', 'tool', 'prompt', 'resource'])
		assert.match(findings.find(f => f.rule === `unknown-${what}`).text, /^is answered with 0 instead of -32\d+$/, what);
});

test('what is not answered is said, and after three of those nothing more is tried', async () => {
	const { stdout, stderr } = await run(['check', '--era', 'legacy', '--timeout', '400ms', '--', ...local('broken_server.mjs', 'tacit')]);
	assert.match(stdout, /unknown method: is not answered[^]*capability resources: is not declared, and a request for it is not answered: resources\/list: .*\(--timeout\)/);
	assert.match(stderr, /the rest was not tried, as the server left 3 requests without an answer/);
});

test('server-filesystem and server-memory', async () => {
	const cwd = place({ 'memory.json': '' });
	for (const [name, ...args] of [['server-filesystem', cwd], ['server-memory']]) {
		const said = await check('--env', `MEMORY_FILE_PATH=${cwd}/memory.json`, '--', ...packaged(`@modelcontextprotocol/${name}`, 'dist/index.js', ...args));
		assert.deepEqual(serious(said), ['warning unknown-tool an unknown tool'], name);
		assert.equal(said.code, 0);
	}
});

test('TypeScript v2 over pipes and HTTP, both eras', async t => {
	const server = t.use(await NodeServer.start(local('server_v2.mjs', 'http')));
	for (const where of [['--', ...local('server_v2.mjs', 'stdio')], [server.url]])
		for (const era of ['modern', 'legacy']) {
			const said = await check('--era', era, ...where);
			assert.deepEqual(serious(said).filter(line => line.startsWith('error')), [], JSON.stringify(said.findings));
			assert.equal(said.code, 0);
		}
});

test('what can only mean one thing is taken, with a remark', async () => {
	const sloppy = ['--', ...broken('sloppy')];
	const call = await run(['call', ...sloppy, '--', 'cut']);
	assert.deepEqual([call.stdout, call.code], ['cut \ufffd\n', 0]);
	const texts = (await check(...sloppy)).findings.map(f => f.text).join('\n');
	for (const remark of [/byte order mark/, /surrogate pair/, /our ids in another way/, /one of them null/]) {
		assert.match(call.stderr, remark);
		assert.match(texts, remark);
	}
});

// ---- rules -----------------------------------------------------------------------------------------

const x129 = 'x'.repeat(129), y70 = 'y'.repeat(70);
const lint = [
	'error name tool has space', 'error name tool ', `error name tool ${x129}`, `warning name tool ${y70}`,
	'warning description tool silent', 'warning description tool parrot', 'warning description tool short',
	'warning argument-description tool undescribed', 'error hidden-text tool sneaky', 'error schema tool broken',
	'error schema-reference tool remote', 'warning schema-portable tool choice', 'warning schema tool needy', 'error schema tool never',
	'error hidden-text tool whispers', 'error hidden-text server', 'error uri resource test://a b', 'error uri resource test://100%', 'error uri resource test://größe',
	'warning annotations tool torn', 'warning annotations tool delete_all', 'warning lookalike tool list_files',
	'error duplicate tool twice', 'error uri resource no scheme', 'error duplicate resource test://one',
	'error uri template test://{open', 'warning uri template test://plain', 'error duplicate prompt p'
];

test('what lists say', async () => {
	const said = await check('--skip', 'read', '--skip', 'prompt', '--', ...broken('lint'));
	assert.deepEqual(brief(said.findings.filter(f => f.severity !== 'note')).sort(), [...lint].sort());
	assert.equal(said.code, 7);
});

const faults = {
	none: [],
	fine: [],
	lost: ['error unknown-resource an unknown resource', 'warning unknown-prompt an unknown prompt'],
	yes: ['error list list of tools', 'error protocol result of tools/call', 'error protocol result of tools/list',
		'error unknown-method an unknown method', 'error unknown-tool an unknown tool'],
	loose: ['error arguments tool any'],
	output: ['error output tool missing', 'error output tool unfit'],
	unreadable: ['error read resource test://gone'],
	prompts: ['error prompt prompt free', 'warning prompt prompt bound'],
	shuffle: ['warning order list of tools'],
	pages: ['error list list of tools'],
	undeclared: ['warning capability capability tools'],
	unlisted: ['error list list of tools'],
	messages: ['error protocol result of tools/list', 'error protocol result of tools/list', 'error protocol result of tools/list', 'error schema tool y'],
	noise: ['warning protocol client']
};
for (const [fault, expected] of Object.entries(faults))
	test(`behaviour: ${fault}`, async () => {
		const said = await check('--', ...broken(fault));
		const found = serious(said);
		for (const line of expected) assert.ok(found.includes(line), `${line} is not in ${found.join('\n')}`);
		if (fault !== 'yes') assert.deepEqual(found.sort(), [...expected].sort());
		assert.equal(said.code, expected.some(line => line.startsWith('error')) ? 7 : 0);
	});

test('a prompt that is not answered at all', async () => {
	const said = await check('--timeout', '5s', '--', ...broken('mute'));
	assert.deepEqual(serious(said), ['error prompt prompt p']);
	assert.match(said.findings.find(f => f.rule === 'prompt').text, /does not answer/);
});

test('only tools that say that they are read-only are called', async () => {
	const { stderr } = await run(['check', '--', ...broken('output')]);
	assert.doesNotMatch(stderr, /BOOM/);
});

// ---- options ---------------------------------------------------------------------------------------

test('--rule, --skip and --strict', async () => {
	const only = await check('--rule', 'name', '--rule', 'uri', '--', ...broken('lint'));
	assert.deepEqual([...new Set(only.findings.map(f => f.rule))].sort(), ['name', 'uri']);
	const without = await check('--skip', 'name', '--', ...broken('lint'));
	assert.ok(without.findings.length > 5 && !without.findings.some(f => f.rule === 'name'));
	assert.equal((await check('--', ...broken('shuffle'))).code, 0);
	assert.equal((await check('--strict', '--', ...broken('shuffle'))).code, 7);
	const typo = await run(['check', '--rule', 'nmae', '--', hello]);
	assert.equal(typo.code, 2);
	assert.match(typo.stderr, /did you mean "name"/);
});

test('every rule that there is is listed, and every one that finds something is one', async () => {
	const rules = (await run(['check', '--rules'])).stdout.trim().split('\n').map(line => line.split(' ')[0]);
	assert.ok(rules.length > 20);
	const found = new Set();
	for (const fault of ['lint', ...Object.keys(faults)])
		for (const f of (await check('--', ...broken(fault))).findings) found.add(f.rule);
	assert.deepEqual(rules.filter(r => !found.has(r)), []);
	assert.deepEqual([...found].filter(r => !rules.includes(r)), []);
});

test('the lines for people', async () => {
	const { stdout, code } = await run(['check', '--', ...broken('unreadable')]);
	assert.equal(code, 7);
	assert.equal(stdout, 'error   resource test://gone: is listed, but cannot be read: resources/read test://gone: the disk is on fire [read]\n' +
		'        fix: list only what can be read\n1 error, 0 warnings\n');
	assert.equal((await run(['check', '--', ...broken('none')])).stdout, 'nothing found\n');
});

test('hostile text never reaches the terminal as it is', async () => {
	for (const fault of ['evil', 'evilerror', 'noise', 'lint']) {
		const { stdout, stderr } = await run(['check', '-q', '--', ...broken(fault)]);
		assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/, fault);
	}
});

test('a server that is not there', async () => {
	assert.equal((await run(['check', 'http://127.0.0.1:1/mcp'])).code, 4);
	assert.equal((await run(['check', '--', 'no-such-program'])).code, 4);
	assert.equal((await run(['check'])).code, 2);
});

await runCases();
