// `cleat serve --dir`: a folder through the official TypeScript client and `cleat call`: its tools, its
// resources, hostile paths and files, and many files. (How fast and how small: scripts/load, whole.)

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { place } from './lib/cli.mjs';
import { byHand, everyWay, serve, text, ways } from './lib/serve.mjs';
import { eventually, run, test } from './lib/tap.mjs';

const png = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=', 'base64');
const wav = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\0\0\0\0', 'latin1')]);

function folder() {
	const top = place({
		'served/notes.md': '# Notes\nfirst line\nsecond needle\nthird\n',
		'served/sub/deep/code.c': 'int main(void)\n{\n\treturn 0; // needle\n}\n',
		'served/sub/data.json': '{"needle": 1}\n',
		'served/empty.txt': '',
		'served/.secret': 'hidden\n',
		'served/.git/config': 'hidden needle\n',
		'outside/secret.txt': 'SECRET needle\n',
		'served_evil/secret.txt': 'SECRET needle\n'
	});
	const dir = path.join(top, 'served');
	fs.rmSync(path.join(dir, '.keep'), { force: true });
	fs.writeFileSync(path.join(dir, 'dot.png'), png);
	fs.writeFileSync(path.join(dir, 'beep.wav'), wav);
	fs.writeFileSync(path.join(dir, 'noise.bin'), Buffer.from([0, 1, 2, 255, 254, 0]));
	fs.writeFileSync(path.join(dir, 'latin1.txt'), Buffer.from('caf\xe9 needle\n', 'latin1'));
	fs.symlinkSync('../outside/secret.txt', path.join(dir, 'escape'));
	fs.symlinkSync('/etc', path.join(dir, 'etc'));
	fs.symlinkSync('sub/data.json', path.join(dir, 'inside'));
	fs.symlinkSync('.secret', path.join(dir, 'uncover'));
	fs.symlinkSync('loop', path.join(dir, 'loop'));
	return dir;
}

const names = result => result.structuredContent.entries.map(e => e.path);

async function refused(session, tool, args, words) {
	const result = await session.call(tool, args);
	assert.equal(result.isError, true, `${tool} ${JSON.stringify(args)} gave ${text(result)}`);
	assert.match(text(result), words);
	assert.doesNotMatch(text(result), /SECRET|root:/);
}

let dir;
const read = () => ['--dir', (dir = folder())];
const write = () => ['--dir', `${(dir = folder())}:rw`];
const inDir = name => path.join(dir, name);

// ---- listing and reading --------------------------------------------------------------------------

everyWay('the tools are there with hints and schemas, those that write only with :rw', read, async s => {
	const { tools } = await s.client.listTools();
	assert.deepEqual(tools.map(t => t.name), ['list_files', 'read_file', 'search_files', 'stat_file']);
	for (const tool of tools) {
		assert.equal(tool.annotations.readOnlyHint, true);
		assert.equal(tool.annotations.openWorldHint, false);
		assert.equal(tool.inputSchema.additionalProperties, false);
		assert.equal(tool.outputSchema !== undefined, tool.name !== 'read_file');
	}
	await assert.rejects(async () => {
		const result = await s.call('write_file', { path: 'x', content: 'x' });
		if (result.isError) throw new Error('refused');
	});
	assert.equal(fs.existsSync(inDir('x')), false);
});

everyWay('files are listed, sorted, without what is hidden; pages go on', read, async s => {
	const all = await s.call('list_files');
	assert.deepEqual(names(all), ['beep.wav', 'dot.png', 'empty.txt', 'escape', 'etc', 'inside', 'latin1.txt', 'loop',
		'noise.bin', 'notes.md', 'sub', 'uncover']);
	assert.deepEqual(all.structuredContent.entries.find(e => e.path === 'dot.png').size, png.length);
	assert.equal(all.structuredContent.entries.find(e => e.path === 'escape').type, 'link');
	assert.equal(all.structuredContent.next_cursor, undefined);
	assert.match(text(all), /^notes\.md \(39 bytes\)$/m);
	const tree = await s.call('list_files', { recursive: true, glob: '*.{c,json}' });
	assert.deepEqual(names(tree), ['sub/data.json', 'sub/deep/code.c']);
	const found = [];
	let cursor;
	do {
		const page = await s.call('list_files', { recursive: true, limit: 4, ...(cursor && { cursor }) });
		assert.ok(names(page).length <= 4);
		found.push(...names(page));
		cursor = page.structuredContent.next_cursor;
	} while (cursor);
	assert.deepEqual(found, [...names(all).slice(0, 11), 'sub/data.json', 'sub/deep', 'sub/deep/code.c', 'uncover']);
	await refused(s, 'list_files', { cursor: '!' }, /not one that list_files gave/);
	await refused(s, 'list_files', { cursor: Buffer.from('../x').toString('base64url') }, /not allowed/);
	await refused(s, 'list_files', { path: 'none' }, /no such file/);
	await refused(s, 'list_files', { path: 'notes.md' }, /not a directory/);
	await refused(s, 'list_files', { glob: '[' }, /glob/);
});

everyWay('a text is read whole, by lines, from its head and its tail', read, async s => {
	const whole = '# Notes\nfirst line\nsecond needle\nthird\n';
	const of = async args => (await s.call('read_file', { path: 'notes.md', ...args })).content.map(c => c.text);
	assert.deepEqual(await of({}), [whole]);
	assert.deepEqual(await of({ head: 99 }), [whole]);
	assert.deepEqual(await of({ head: 1 }), ['# Notes\n', '[Lines 1 to 1; the file goes on. To go on: read_file with offset 2.]']);
	assert.deepEqual(await of({ tail: 1 }), ['third\n']);
	assert.deepEqual(await of({ tail: 2 }), ['second needle\nthird\n']);
	assert.deepEqual(await of({ tail: 99 }), [whole]);
	assert.equal((await of({ offset: 2, limit: 2 }))[0], 'first line\nsecond needle\n');
	assert.deepEqual(await of({ offset: 4 }), ['third\n']);
	assert.deepEqual((await s.call('read_file', { path: 'empty.txt' })).content.map(c => c.text), ['']);
	await refused(s, 'read_file', { path: 'notes.md', offset: 9 }, /has only 4 lines/);
	await refused(s, 'read_file', { path: 'notes.md', head: 1, tail: 1 }, /not several/);
	const latin = await s.call('read_file', { path: 'latin1.txt' });
	assert.equal(latin.content[0].text, 'caf\ufffd needle\n');
	assert.match(latin.content[1].text, /not UTF-8/);
});

everyWay('what is no text comes as image, audio or blob, by its content', read, async s => {
	const image = (await s.call('read_file', { path: 'dot.png' })).content[0];
	assert.deepEqual([image.type, image.mimeType, image.data], ['image', 'image/png', png.toString('base64')]);
	const sound = (await s.call('read_file', { path: 'beep.wav' })).content[0];
	assert.deepEqual([sound.type, sound.mimeType], ['audio', 'audio/x-wav']);
	const blob = (await s.call('read_file', { path: 'noise.bin' })).content[0];
	assert.deepEqual([blob.type, blob.resource.uri, blob.resource.blob], ['resource', 'served:///noise.bin', 'AAEC//4A']);
	await refused(s, 'read_file', { path: 'dot.png', head: 1 }, /is not text \(image\/png\)/);
	const stat = (await s.call('stat_file', { path: 'dot.png' })).structuredContent;
	assert.deepEqual([stat.path, stat.type, stat.size, stat.mime], ['dot.png', 'file', png.length, 'image/png']);
	assert.equal((await s.call('stat_file', { path: 'sub' })).structuredContent.type, 'directory');
	assert.equal((await s.call('stat_file', { path: '' })).structuredContent.type, 'directory');
	assert.equal((await s.call('stat_file', { path: 'inside' })).structuredContent.mime, 'application/json');
});

everyWay('search finds lines by expression, text, glob, with context and limits', read, async s => {
	const found = await s.call('search_files', { pattern: 'ne+dle' });
	assert.match(text(found), /^latin1\.txt:1: caf\ufffd needle\nnotes\.md:3: second needle\nsub\/data\.json:1: \{"needle": 1\}\nsub\/deep\/code\.c:3: \treturn 0; \/\/ needle\n\(4 matches in 4 of 5 files\)/);
	assert.deepEqual(found.structuredContent.matches.map(m => [m.path, m.line, m.column]),
		[['latin1.txt', 1, 6], ['notes.md', 3, 8], ['sub/data.json', 1, 3], ['sub/deep/code.c', 3, 15]]);
	assert.equal(found.structuredContent.truncated, false);
	const around = await s.call('search_files', { pattern: 'NEEDLE', ignore_case: true, glob: '*.md', context: 1 });
	assert.deepEqual(around.structuredContent.matches, [{
		path: 'notes.md', line: 3, column: 8, text: 'second needle', before: ['first line'], after: ['third']
	}]);
	assert.match(text(around), /^notes\.md-2- first line\nnotes\.md:3: second needle\nnotes\.md-4- third\n/);
	const some = await s.call('search_files', { pattern: 'needle', limit: 2 });
	assert.deepEqual([some.structuredContent.matches.length, some.structuredContent.truncated], [2, true]);
	const literal = await s.call('search_files', { pattern: '(void)', literal: true, path: 'sub' });
	assert.deepEqual(literal.structuredContent.matches.map(m => m.path), ['sub/deep/code.c']);
	const one = await s.call('search_files', { pattern: 'needle', path: 'sub/data.json' });
	assert.deepEqual([one.structuredContent.files, one.structuredContent.matches.length], [1, 1]);
	const none = await s.call('search_files', { pattern: 'SECRET' });
	assert.deepEqual(none.structuredContent.matches, []);
	await refused(s, 'search_files', { pattern: '(' }, /pattern: .*paren/);
	await refused(s, 'search_files', { pattern: 'x', path: 'etc' }, /outside/);
});

// ---- hostile paths ----------------------------------------------------------------------------------

const evil = [
	['../outside/secret.txt', /"\.\." is not allowed/], ['sub/../../outside/secret.txt', /not allowed/],
	['../served_evil/secret.txt', /not allowed/], ['/etc/passwd', /absolute/], ['//etc/passwd', /absolute/],
	['escape', /outside/], ['etc/passwd', /outside/], ['loop', /symbolic link/], ['uncover', /no such file/],
	['.secret', /hidden/], ['.git/config', /hidden/], ['sub/.x', /hidden/], ['./.secret', /hidden/],
	['..', /not allowed/], ['..\\outside', /hidden/], ['%2e%2e/outside/secret.txt', /no such file/],
	['\\x2e\\x2e/outside/secret.txt', /no such file/], ['notes.md\0.txt', /NUL|does not fit|pattern/i],
	['x'.repeat(300), /255 bytes/], ['x/'.repeat(4000), /too long/], ['-rf', /no such file/], ['$(id)', /no such file/],
	['notes.md/x', /not a directory/], ['~/x', /no such file/], ['file:///etc/passwd', /no such file/]
];

everyWay('no path leads outside or to what is hidden', write, async s => {
	for (const [name, words] of evil) {
		await refused(s, 'read_file', { path: name }, words);
		await refused(s, 'stat_file', { path: name }, words);
		await refused(s, 'search_files', { pattern: '.', path: name }, words);
		await refused(s, 'edit_file', { path: name, old: 'a', new: 'b' }, /./);
	}
	for (const name of ['../x', '/tmp/x', 'escape', 'etc/x', '.x', 'sub/.x', '../served_evil/x', 'loop/x'])
		for (const more of [{}, { overwrite: true }, { parents: true }]) {
			await refused(s, 'write_file', { path: name, content: 'x', ...more }, /./);
			await refused(s, 'move_file', { from: 'notes.md', to: name, ...more }, /./);
		}
	for (const name of ['../outside/secret.txt', 'etc/passwd', '.secret', '', '.', '../served_evil'])
		await refused(s, 'remove_file', { path: name }, /./);
	assert.equal(fs.readFileSync(inDir('../outside/secret.txt'), 'utf8'), 'SECRET needle\n');
	assert.equal(fs.readFileSync(inDir('.secret'), 'utf8'), 'hidden\n');
	assert.equal(fs.lstatSync(inDir('escape')).isSymbolicLink(), true);
	assert.deepEqual(fs.readdirSync(inDir('../outside')).sort(), ['secret.txt']);
	assert.ok(fs.existsSync(inDir('notes.md')));
});

everyWay('a value of megabytes is refused as a path and as a pattern, not choked on', read, async s => {
	const big = 'x'.repeat(s.way.link === 'stdio' ? 9 << 20 : 3 << 20); // HTTP takes bodies of 4 MiB
	await refused(s, 'read_file', { path: big }, /too long/);
	const result = await s.call('search_files', { pattern: big }).catch(error => ({ isError: true, error }));
	assert.equal(result.isError, true);
	assert.equal(text(await s.call('read_file', { path: 'notes.md', tail: 1 })), 'third\n');
});

test('v1: a link that is swapped during the calls never leads out', async t => {
	const top = folder();
	const s = await serve(t, ways[0], ['--dir', `${top}:rw`]);
	fs.mkdirSync(path.join(top, 'x'));
	fs.writeFileSync(path.join(top, 'x/secret.txt'), 'fine\n');
	fs.symlinkSync('../outside', path.join(top, 'y'));
	// Another process exchanges the directory and the link as fast as it can.
	const swapper = spawn('python3', ['-c', `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
d = os.open(sys.argv[1], os.O_RDONLY)
while True:
    libc.renameat2(d, b"x", d, b"y", 2)
`, top], { stdio: 'ignore' });
	t.use({ end: async () => { swapper.kill(); return []; } });
	let fine = 0, not = 0;
	for (let i = 0; i < 300 || ((!fine || !not) && i < 20_000); i++) {
		const result = await s.call('read_file', { path: 'x/secret.txt' });
		if (result.isError) not++;
		else assert.equal((fine++, text(result)), 'fine\n');
		await s.call('write_file', { path: 'x/new.txt', content: 'mine', overwrite: true });
		await s.call('list_files', { path: 'x' });
		await s.call('search_files', { path: 'x', pattern: 'SECRET' }).then(r => assert.doesNotMatch(text(r), /SECRET needle/));
	}
	assert.ok(fine > 0 && not > 0, `${fine} read, ${not} refused`);
	assert.deepEqual(fs.readdirSync(path.join(top, '../outside')), ['secret.txt']);
});

// ---- hostile files -----------------------------------------------------------------------------------

everyWay('FIFOs, sockets, devices and 10 GB of nothing are no trouble', write, async s => {
	execFileSync('mkfifo', [inDir('fifo')]);
	fs.writeFileSync(inDir('huge'), '');
	fs.truncateSync(inDir('huge'), 10 * 2 ** 30);
	await refused(s, 'read_file', { path: 'fifo' }, /is a FIFO/);
	await refused(s, 'edit_file', { path: 'fifo', old: 'a', new: 'b' }, /not a regular file/);
	await refused(s, 'write_file', { path: 'fifo', content: 'x', overwrite: true }, /not a regular file/);
	await refused(s, 'remove_file', { path: 'fifo' }, /not a regular file/);
	await refused(s, 'read_file', { path: 'huge' }, /max_file/);
	await refused(s, 'edit_file', { path: 'huge', old: 'a', new: 'b' }, /max_file/);
	const found = await s.call('search_files', { pattern: 'needle' });
	assert.equal(found.structuredContent.matches.length, 4);
	assert.equal((await s.call('stat_file', { path: 'huge' })).structuredContent.size, 10 * 2 ** 30);
});

everyWay('names that are no text, or more than a line, are shown and can be used', write, async s => {
	fs.writeFileSync(Buffer.concat([Buffer.from(`${dir}/odd-`), Buffer.from([0xff]), Buffer.from('.txt')]), 'odd needle-odd\n');
	fs.writeFileSync(inDir('two\nlines.txt'), 'newline needle-odd\n');
	fs.writeFileSync(inDir('ünï.txt'), 'unicode needle-odd\n');
	const list = await s.call('list_files', { glob: '*.txt' });
	assert.deepEqual(names(list).filter(n => /odd|two|ü/.test(n)).sort(), ['odd-\\xff.txt', 'two\nlines.txt', 'ünï.txt']);
	assert.match(text(list), /^two\\x0alines\.txt \(19 bytes\)$/m);
	for (const [name, content] of [['odd-\\xff.txt', 'odd'], ['two\nlines.txt', 'newline'], ['two\\x0alines.txt', 'newline'], ['ünï.txt', 'unicode']])
		assert.equal(text(await s.call('read_file', { path: name })), `${content} needle-odd\n`);
	assert.equal((await s.call('search_files', { pattern: 'needle-odd' })).structuredContent.matches.length, 3);
	await s.call('remove_file', { path: 'odd-\\xff.txt' });
	assert.equal(fs.readdirSync(dir, 'buffer').some(n => n.includes(0xff)), false);
});

everyWay('a long text is cut at whole lines, and the answer says how to go on', () => {
	dir = folder();
	const config = path.join(place({
		'c.json': JSON.stringify({ folders: { f: { path: dir } }, defaults: { output_limit: '1KB' } })
	}), 'c.json');
	return [config];
}, async s => {
	const lines = Array.from({ length: 500 }, (_, i) => `line ${i + 1} ${'ä'.repeat(i % 7)}\n`);
	fs.writeFileSync(inDir('long.txt'), lines.join(''));
	let got = '', offset = 1, calls = 0;
	for (;;) {
		const { content } = await s.call('read_file', { path: 'long.txt', offset });
		got += content[0].text;
		calls++;
		assert.ok(Buffer.byteLength(content[0].text) <= 1024);
		const next = /offset (\d+)/.exec(content[1]?.text);
		if (!next) break;
		offset = Number(next[1]);
	}
	assert.equal(got, lines.join(''));
	assert.ok(calls > 5);
	const tail = (await s.call('read_file', { path: 'long.txt', tail: 400 })).content;
	assert.ok(lines.join('').endsWith(tail[0].text) && tail[0].text.startsWith('line'));
	assert.match(tail[1].text, /These are the last \d+ lines/);
	fs.writeFileSync(inDir('one.txt'), 'ä'.repeat(5000) + '\nend\n');
	const one = (await s.call('read_file', { path: 'one.txt' })).content;
	assert.match(one[0].text, /^ä{500,512}$/);
	assert.match(one[1].text, /Line 1 is longer .* offset 2/);
	fs.writeFileSync(inDir('one.txt'), 'begin\n' + 'ä'.repeat(5000));
	const end = (await s.call('read_file', { path: 'one.txt', tail: 1 })).content;
	assert.match(end[0].text, /^ä{500,512}$/);
	const many = await s.call('search_files', { pattern: 'line' });
	assert.equal(many.structuredContent.truncated, true);
	assert.ok(text(many).length < 3000);
});

// ---- writing ------------------------------------------------------------------------------------------

everyWay('files are written, edited, moved and removed, and nothing is replaced unasked', write, async s => {
	const { tools } = await s.client.listTools();
	assert.deepEqual(tools.slice(4).map(t => [t.name, t.annotations.readOnlyHint, t.annotations.destructiveHint]), [
		['write_file', false, true], ['edit_file', false, true], ['move_file', false, true], ['remove_file', false, true]]);
	const made = await s.call('write_file', { path: 'new.txt', content: 'ünï\n' });
	assert.deepEqual(made.structuredContent, { path: 'new.txt', size: 6, created: true });
	assert.equal(fs.readFileSync(inDir('new.txt'), 'utf8'), 'ünï\n');
	await refused(s, 'write_file', { path: 'new.txt', content: 'x' }, /already exists/);
	fs.chmodSync(inDir('new.txt'), 0o640);
	// A last line without its end is a line, too.
	for (const [content, lines] of [['a', '1 line'], ['a\nb', '2 lines'], ['a\nb\n', '2 lines']]) {
		await s.call('write_file', { path: 'new.txt', content, overwrite: true });
		await refused(s, 'read_file', { path: 'new.txt', offset: 5 }, new RegExp(`has only ${lines}$`));
	}
	const again = await s.call('write_file', { path: 'new.txt', content: 'one two one\n', overwrite: true });
	assert.equal(again.structuredContent.created, false);
	assert.equal(fs.statSync(inDir('new.txt')).mode & 0o777, 0o640);
	await refused(s, 'write_file', { path: 'no/such/new.txt', content: 'x' }, /directory above it is not there; parents=true makes it/);
	await s.call('write_file', { path: 'no/such/new.txt', content: 'deep', parents: true });
	assert.equal(fs.readFileSync(inDir('no/such/new.txt'), 'utf8'), 'deep');
	await refused(s, 'write_file', { path: 'sub', content: 'x', overwrite: true }, /is a directory/);
	await refused(s, 'write_file', { path: 'inside', content: 'x', overwrite: true }, /symbolic link/);
	for (const [tool, args] of [['write_file', { path: 'con/', content: 'x' }], ['write_file', { path: 'con/.', content: 'x', parents: true }],
		['edit_file', { path: 'new.txt/', old: 'two', new: '2' }], ['move_file', { from: 'new.txt', to: 'con/' }],
		['move_file', { from: 'new.txt/', to: 'con' }], ['remove_file', { path: 'new.txt/' }]])
		await refused(s, tool, args, /a path that ends with \/ is a directory/);
	assert.equal(fs.existsSync(inDir('con')), false);

	await refused(s, 'edit_file', { path: 'new.txt', old: 'one', new: '1' }, /occurs 2 times \(lines 1, 1\)/);
	await refused(s, 'edit_file', { path: 'new.txt', old: 'three', new: '1' }, /does not occur/);
	await refused(s, 'edit_file', { path: 'inside', old: 'needle', new: '1' }, /symbolic link/);
	const edit = await s.call('edit_file', { path: 'new.txt', old: 'two', new: '2' });
	assert.equal(edit.structuredContent.replaced, 1);
	assert.match(text(edit), /^-one two one\n\+one 2 one$/m);
	assert.equal((await s.call('edit_file', { path: 'new.txt', old: 'one', new: '1', all: true })).structuredContent.replaced, 2);
	assert.equal(fs.readFileSync(inDir('new.txt'), 'utf8'), '1 2 1\n');
	assert.equal(fs.statSync(inDir('new.txt')).mode & 0o777, 0o640);

	await refused(s, 'move_file', { from: 'new.txt', to: 'notes.md' }, /already exists/);
	await refused(s, 'move_file', { from: 'new.txt', to: 'sub' }, /already exists/);
	await refused(s, 'move_file', { from: 'none', to: 'x' }, /no such file/);
	await refused(s, 'move_file', { from: 'sub', to: 'sub/deep/sub' }, /refuses|file system/);
	await s.call('move_file', { from: 'new.txt', to: 'sub/moved.txt' });
	await s.call('move_file', { from: 'sub/moved.txt', to: 'empty.txt', overwrite: true });
	assert.equal(fs.readFileSync(inDir('empty.txt'), 'utf8'), '1 2 1\n');
	assert.deepEqual((await s.call('move_file', { from: 'sub', to: 'renamed' })).structuredContent, { from: 'sub', to: 'renamed' });

	await refused(s, 'remove_file', { path: 'renamed' }, /not empty/);
	await s.call('remove_file', { path: 'empty.txt' });
	await s.call('remove_file', { path: 'no/such/new.txt' });
	await s.call('remove_file', { path: 'no/such' });
	await s.call('remove_file', { path: 'escape' });
	assert.equal(fs.existsSync(inDir('empty.txt')) || fs.existsSync(inDir('no/such')), false);
	assert.equal(fs.readFileSync(inDir('../outside/secret.txt'), 'utf8'), 'SECRET needle\n');
	await refused(s, 'remove_file', { path: 'empty.txt' }, /no such file/);
	assert.deepEqual(fs.readdirSync(dir).filter(n => n.startsWith('.cleat')), []);
});

test('v1: a disk that is full leaves the old content and no rest', async t => {
	const top = folder();
	const old = fs.readFileSync(path.join(top, 'notes.md'), 'utf8');
	// RLIMIT_FSIZE instead of a disk of our own: 64 KB for any file of the server.
	const wrapper = path.join(place({ 'limited': `#!/bin/sh\nulimit -f 64\nexec "$CLEAT" "$@"\n` }), 'limited');
	fs.chmodSync(wrapper, 0o755);
	const s = await t.open(ways[0], {
		program: path.relative(process.env.CLEAT_BUILD_DIR, wrapper),
		args: ['serve', '--dir', `${top}:rw`],
		env: { CLEAT: path.join(process.env.CLEAT_BUILD_DIR, 'cleat') }
	});
	await refused(s, 'write_file', { path: 'notes.md', content: 'x'.repeat(1 << 20), overwrite: true }, /larger than the system allows/);
	await refused(s, 'write_file', { path: 'fresh.md', content: 'x'.repeat(1 << 20) }, /larger than the system allows/);
	await refused(s, 'edit_file', { path: 'notes.md', old: 'third', new: 'x'.repeat(1 << 20) }, /larger than the system allows/);
	assert.equal(fs.readFileSync(path.join(top, 'notes.md'), 'utf8'), old);
	assert.deepEqual(fs.readdirSync(top).filter(n => n.startsWith('.cleat') || n === 'fresh.md'), []);
	assert.equal((await s.call('write_file', { path: 'fresh.md', content: 'small' })).isError, undefined);
});

test('v1: many writers and readers of one file see whole contents only', async t => {
	const top = folder();
	const s = await serve(t, ways[0], ['--dir', `${top}:rw`]);
	const contents = Array.from({ length: 8 }, (_, i) => `${i}`.repeat(50_000));
	const work = [];
	for (let round = 0; round < 10; round++)
		for (const content of contents) {
			work.push(s.call('write_file', { path: 'shared.txt', content, overwrite: true }));
			work.push(s.call('read_file', { path: 'shared.txt' }).then(r => {
				if (!r.isError) assert.ok(contents.includes(text(r)), `a mixture of ${text(r).length} characters`);
			}));
		}
	for (const result of await Promise.all(work)) if (result) assert.ok(!result.isError || /exists|changed/.test(text(result)));
	assert.ok(contents.includes(fs.readFileSync(path.join(top, 'shared.txt'), 'utf8')));
});

// ---- several folders, configuration -------------------------------------------------------------------

everyWay('several folders have names before their tools; excluded and hidden as configured', () => {
	dir = folder();
	fs.writeFileSync(path.join(dir, 'old.bak'), 'needle\n');
	fs.mkdirSync(path.join(dir, 'node_modules'));
	fs.writeFileSync(path.join(dir, 'node_modules/x.js'), 'needle\n');
	return [path.join(place({
		'c.jsonc': `{ // two of them
			"folders": {
				"docs": { "path": ${JSON.stringify(dir)}, "exclude": ["*.bak", "node_modules/", "sub/*.json"], "description": "Our notes." },
				"all_files": { "path": ${JSON.stringify(dir)}, "hidden": true, "write": true, "resources": false, "max_file": 100 }
			} }`
	}), 'c.jsonc')];
}, async s => {
	const { tools } = await s.client.listTools();
	assert.equal(tools.length, 12);
	assert.match(tools.find(t => t.name === 'docs_read_file').description, /Our notes\./);
	assert.deepEqual(names(await s.call('docs_list_files', { recursive: true })).filter(n => /bak|node_modules|json/.test(n)), []);
	assert.deepEqual((await s.call('docs_search_files', { pattern: 'needle', glob: '*.{bak,js,json}' })).structuredContent.matches, []);
	await refused(s, 'docs_read_file', { path: 'node_modules/x.js' }, /excluded/);
	await refused(s, 'docs_read_file', { path: 'inside' }, /no such file/); // a link to what is excluded
	assert.equal(text(await s.call('all_files_read_file', { path: '.secret' })), 'hidden\n');
	await refused(s, 'all_files_write_file', { path: 'x', content: 'x'.repeat(101) }, /max_file/);
	const { resourceTemplates } = await s.client.listResourceTemplates();
	assert.deepEqual(resourceTemplates.map(r => r.uriTemplate), ['docs:///{+path}']);
});

// ---- resources ---------------------------------------------------------------------------------------

everyWay('files are resources: listed, read as text or blob, completed', read, async s => {
	const { resources } = await s.client.listResources();
	assert.deepEqual(resources.map(r => r.uri), ['beep.wav', 'dot.png', 'empty.txt', 'latin1.txt', 'noise.bin', 'notes.md',
		'sub/data.json', 'sub/deep/code.c'].map(n => `served:///${n}`));
	const notes = resources.find(r => r.name === 'notes.md');
	assert.deepEqual([notes.mimeType, notes.size], ['text/markdown', 39]);
	assert.match(notes.annotations.lastModified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
	const one = (await s.client.readResource({ uri: 'served:///notes.md' })).contents[0];
	assert.deepEqual([one.uri, one.mimeType, one.text.length], ['served:///notes.md', 'text/markdown', 39]);
	const image = (await s.client.readResource({ uri: 'served:///dot.png' })).contents[0];
	assert.deepEqual([image.mimeType, image.blob], ['image/png', png.toString('base64')]);
	const latin = (await s.client.readResource({ uri: 'served:///latin1.txt' })).contents[0];
	assert.equal(Buffer.from(latin.blob, 'base64').toString('latin1'), 'caf\xe9 needle\n');
	// not listed when the server began: the template knows it
	fs.writeFileSync(inDir('sub/späte datei.txt'), 'late\n');
	const late = await s.client.readResource({ uri: `served:///sub/${encodeURIComponent('späte datei.txt')}` });
	assert.equal(late.contents[0].text, 'late\n');
	for (const uri of ['served:///../outside/secret.txt', 'served:///%2e%2e/outside/secret.txt', 'served:///.secret', 'served:///escape',
		'served:////etc/passwd', 'served:///none', 'served:///sub', 'served:///uncover', 'served:///notes.md%00', 'served:///%ff'])
		await assert.rejects(s.client.readResource({ uri }), error => !/SECRET/.test(String(error)), uri);
	const ref = { type: 'ref/resource', uri: 'served:///{+path}' };
	const complete = async value => (await s.client.complete({ ref, argument: { name: 'path', value } })).completion.values;
	assert.deepEqual(await complete('n'), ['noise.bin', 'notes.md']);
	assert.deepEqual(await complete('sub/d'), ['sub/data.json', 'sub/deep/']);
	assert.deepEqual(await complete('../'), []);
	assert.deepEqual(await complete('.'), []);
});

async function subscribed(s, uris) {
	if (s.way.era === 'modern') await s.client.listen({ resourceSubscriptions: uris, resourcesListChanged: true });
	else for (const uri of uris) await s.client.subscribeResource({ uri });
}

const updated = uri => n => n.method === 'notifications/resources/updated' && n.params.uri === uri;
const listChanged = n => n.method === 'notifications/resources/list_changed';

everyWay('who subscribed to a file is told when it changes, however it is written', read, async s => {
	const uris = ['served:///notes.md', 'served:///sub/deep/code.c'];
	await subscribed(s, uris);
	fs.appendFileSync(inDir('notes.md'), 'more\n');
	await s.notes.take(updated(uris[0]), 'word of notes.md');
	fs.writeFileSync(inDir('sub/deep/tmp'), 'new\n');
	fs.renameSync(inDir('sub/deep/tmp'), inDir('sub/deep/code.c'));
	await s.notes.take(updated(uris[1]), 'word of code.c');
	assert.equal((await s.client.readResource({ uri: uris[1] })).contents[0].text, 'new\n');
	const before = s.notes.count(updated(uris[0]));
	fs.appendFileSync(inDir('notes.md'), 'and more\n');
	await s.notes.take(updated(uris[0]), 'word again', before + 1);
});

everyWay('a glob is a list that follows its files', () => {
	dir = folder();
	return [path.join(place({
		'c.json': JSON.stringify({
			resources: {
				'docs://': { glob: `${dir}/**/*.md` },
				'app://notes': { file: `${dir}/notes.md`, mime: 'text/x-notes', title: 'The notes' },
				'part://{+path}': { file: `${dir}/sub/{path}` },
				'one://{name}': { file: `${dir}/{name}.md` }
			}
		})
	}), 'c.json')];
}, async s => {
	const uris = async () => (await s.client.listResources()).resources.map(r => r.uri).sort();
	await subscribed(s, ['docs://notes.md', 'app://notes']);
	assert.deepEqual(await uris(), ['app://notes', 'docs://notes.md']);
	const app = (await s.client.listResources()).resources.find(r => r.uri === 'app://notes');
	assert.deepEqual([app.title, app.mimeType, app.size], ['The notes', 'text/x-notes', 39]);
	assert.equal((await s.client.readResource({ uri: 'app://notes' })).contents[0].mimeType, 'text/x-notes');
	assert.equal(s.notes.count(listChanged), 0, 'the files that were there at the start are no news');
	fs.writeFileSync(inDir('sub/deep/new.md'), '# New\n');
	await s.notes.take(listChanged, 'the list to change');
	assert.deepEqual(await uris(), ['app://notes', 'docs://notes.md', 'docs://sub/deep/new.md']);
	assert.equal((await s.client.readResource({ uri: 'docs://sub/deep/new.md' })).contents[0].text, '# New\n');
	const before = s.notes.count(listChanged);
	fs.rmSync(inDir('sub/deep/new.md'));
	await s.notes.take(listChanged, 'the list to change again', before + 1);
	assert.deepEqual(await uris(), ['app://notes', 'docs://notes.md']);
	fs.appendFileSync(inDir('notes.md'), 'x');
	await s.notes.take(updated('app://notes'), 'word of app://notes');
	await s.notes.take(updated('docs://notes.md'), 'word of docs://notes.md');
	assert.equal((await s.client.readResource({ uri: 'part://deep/code.c' })).contents[0].mimeType, 'text/x-c');
	assert.equal((await s.client.readResource({ uri: 'one://notes' })).contents[0].mimeType, 'text/markdown');
	for (const uri of ['docs://empty.txt', 'docs://../outside/secret.txt', 'part://../notes.md', 'part://%2e%2e/notes.md',
		'one://sub%2Fdeep%2Fx', 'one://..%2Foutside%2Fsecret', 'part://none'])
		await assert.rejects(s.client.readResource({ uri }), error => !/SECRET/.test(String(error)), uri);
});

for (const [what, config] of Object.entries({
	'a folder': top => ({ folders: { docs: { path: top } } }),
	'a glob': top => ({ resources: { 'docs:///': { glob: `${top}/**/*.md` } } })
}))
	test(`v1: ${what} that is as before after SIGHUP is no news`, async t => {
		const top = folder();
		const file = path.join(place({ 'c.json': JSON.stringify(config(top)) }), 'c.json');
		const s = await serve(t, ways[0], [file]);
		const uris = async () => (await s.client.listResources()).resources.map(r => r.uri).sort();
		const before = await uris();
		const heard = s.notes.count(listChanged);
		for (let i = 1; i <= 3; i++) {
			process.kill(s.pid, 'SIGHUP');
			await eventually(() => s.stderr.split('loaded again: nothing has changed\n').length === i + 1, 'it was not loaded again');
		}
		assert.deepEqual(await uris(), before);
		// the first word that comes is that of a new file
		fs.writeFileSync(path.join(top, 'new.md'), 'new\n');
		await s.notes.take(listChanged, 'word of new.md', heard + 1);
		assert.deepEqual(await uris(), [...before, 'docs:///new.md'].sort());
		assert.equal(s.notes.count(listChanged), heard + 1);
		s.stderr = '';
	});

test('v1: after SIGHUP the folder is the one that is there now, and subscriptions go on', async t => {
	const top = folder();
	const config = path.join(place({
		'c.json': JSON.stringify({ folders: { docs: { path: top } }, resources: { 'md://': { glob: `${top}/**/*.md` } } })
	}), 'c.json');
	const s = await serve(t, ways[0], [config]);
	await s.client.subscribeResource({ uri: 'docs:///notes.md' });
	await s.client.subscribeResource({ uri: 'md://notes.md' });
	const before = (await s.client.listResources()).resources.map(r => r.uri).sort();
	const again = async () => {
		const changed = s.notes.count(listChanged);
		process.kill(s.pid, 'SIGHUP');
		await s.notes.take(listChanged, 'the new list', changed + 1);
	};
	process.kill(s.pid, 'SIGHUP');
	await eventually(() => /loaded again: nothing has changed\n/.test(s.stderr), 'it was not loaded again');
	assert.deepEqual((await s.client.listResources()).resources.map(r => r.uri).sort(), before);
	fs.appendFileSync(path.join(top, 'notes.md'), 'more\n');
	await s.notes.take(updated('docs:///notes.md'), 'word of docs:///notes.md');
	await s.notes.take(updated('md://notes.md'), 'word of md://notes.md');
	// another directory under the old name
	fs.renameSync(top, `${top}-old`);
	fs.mkdirSync(top);
	fs.writeFileSync(path.join(top, 'fresh.md'), 'fresh\n');
	assert.match(text(await s.call('read_file', { path: 'notes.md', head: 1 })), /^# Notes/);
	await again();
	assert.deepEqual(names(await s.call('list_files')), ['fresh.md']);
	assert.deepEqual((await s.client.listResources()).resources.map(r => r.uri).sort(), ['docs:///fresh.md', 'md://fresh.md']);
	assert.match(s.stderr, /^cleat serve: loaded again: nothing has changed\ncleat serve: loaded again: .* changed, 0 as before\n$/);
	s.stderr = '';
});

// ---- many files -----------------------------------------------------------------------------------------

const MANY = Number(process.env.CLEAT_FILES ?? 5000);

function crowd(flat) {
	const top = place();
	fs.rmSync(path.join(top, '.keep'));
	for (let i = 0; i < MANY; i++) {
		const sub = flat ? top : path.join(top, `d${Math.floor(i / 2000)}`, `e${Math.floor(i / 50) % 40}`);
		if (!flat && i % 50 === 0) fs.mkdirSync(sub, { recursive: true });
		fs.writeFileSync(path.join(sub, `file-${String(i).padStart(6, '0')}.txt`), `number ${i}\n${'text\n'.repeat(10)}${i % 500 === 0 ? 'NEEDLE\n' : ''}`);
	}
	return top;
}

for (const flat of [true, false])
	test(`v2 modern: ${MANY} files, ${flat ? 'in one directory' : 'in a tree'}: pages, search with progress, cancelling, memory`, async t => {
		const s = await serve(t, ways[1], ['--dir', crowd(flat)]);
		let n = 0, cursor, last = '';
		do {
			const page = await s.call('list_files', { recursive: true, limit: 1000, ...(cursor && { cursor }) });
			for (const e of page.structuredContent.entries) {
				assert.ok(e.path > last || !flat, `${e.path} behind ${last}`);
				last = e.path;
				n += e.type === 'file';
			}
			cursor = page.structuredContent.next_cursor;
		} while (cursor);
		assert.equal(n, MANY);
		s.expectErrors = true; // the SDK complains of progress that comes together with the answer, and drops it: the wire tells
		const found = await s.call('search_files', { pattern: 'NEE[D]LE', limit: 10000 }, { onprogress() {} });
		const progress = s.received.items.filter(m => m.method === 'notifications/progress').map(m => m.params);
		assert.equal(found.structuredContent.matches.length, Math.ceil(MANY / 500));
		assert.equal(found.structuredContent.files, MANY);
		assert.match(progress[0].message, /^\S+:\d+: NEEDLE$|files searched/);
		assert.ok(progress.some(p => /NEEDLE/.test(p.message)));
		await eventually(() => {
			const stop = new AbortController();
			return s.call('search_files', { pattern: '^(n|m)o match' }, { signal: stop.signal, onprogress: () => stop.abort() }).then(() => false, () => true);
		}, 'a search that is not over before it can be cancelled');
		assert.equal((await s.call('list_files', { limit: 1 })).structuredContent.entries.length, 1);
		const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(fs.readFileSync(`/proc/${s.pid}/status`, 'utf8'));
		const sanitized = /lib[atu]*san/.test(fs.readFileSync(`/proc/${s.pid}/maps`, 'utf8'));
		assert.ok(sanitized || kilobytes < 30_000, `${kilobytes} kB`);
		const listed = await s.client.listResources();
		assert.equal(listed.resources.length, 100);
	});

// ---- cleat call -----------------------------------------------------------------------------------------

test('cleat call and cleat read: a folder from the shell', async () => {
	const args = ['--dir', (dir = folder())];
	const list = await byHand('call', args, ['list_files', 'glob=*.md', '--json']);
	assert.equal(list.code, 0);
	const head = await byHand('call', args, ['read_file', 'path=notes.md', 'tail=1']);
	assert.deepEqual([head.code, head.stdout], [0, 'third\n']);
	const refusedCall = await byHand('call', args, ['read_file', 'path=../outside/secret.txt']);
	assert.deepEqual([refusedCall.code, /not allowed/.test(refusedCall.stderr)], [5, true]);
	const resource = await byHand('read', args, ['served:///notes.md']);
	assert.match(resource.stdout, /^# Notes\n/);
});

test('cleat ls: the URIs of a folder are no other scheme, whatever its name', async () => {
	for (const [name, scheme] of [['My Docs', 'my-docs'], ['file', 'folder-file'], ['https', 'folder-https'], ['2024', 'folder-2024']]) {
		const top = path.join(place({ [`${name}/a b.txt`]: 'x' }), name);
		const { stdout } = await byHand('ls', ['--dir', top], ['--resources']);
		assert.equal(stdout, `${scheme}:///a%20b.txt\n`);
	}
});

test('cleat serve: a folder that is not there, or is none, is an error that names it', async () => {
	for (const [what, words] of [['/nonexistent/folder', /no such file/], ['/etc/passwd', /not a directory/]]) {
		const result = await byHand('ls', ['--dir', what], []);
		assert.notEqual(result.code, 0);
		assert.match(result.stderr, words);
	}
});

await run();
