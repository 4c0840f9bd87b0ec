// `cleat serve` when what it serves fails under it: a database that is damaged, a folder that takes too long,
// a file that is not there, places in a configuration that cannot work.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { place } from './lib/cli.mjs';
import { fails } from './lib/expect.mjs';
import { everyWay, serve, text, ways } from './lib/serve.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const config = (value, files = {}) => {
	const directory = place({ ...files, 'c.json': JSON.stringify(value) });
	return { directory, args: [path.join(directory, 'c.json')] };
};

/** Destroys all pages of a database that is open somewhere. */
function damage(file) {
	const bytes = fs.readFileSync(file);
	bytes.fill(0xee, 100); // behind its header
	bytes[27]++; // the number of changes, by which others notice
	fs.writeFileSync(file, bytes, { flag: 'r+' });
}

for (const way of ways)
	test(`${way.name}: a database that is damaged says so, and the server goes on; it does not start with one`, async t => {
		const { directory, args } = config({
			databases: { shop: { file: './shop.db', init: './shop.sql' } }, tools: { fine: { cmd: ['echo', 'fine'] } }
		}, { 'shop.sql': 'CREATE TABLE t (x);' });
		const session = await serve(t, way, args);
		assert.deepEqual((await session.call('query', { sql: 'SELECT count(*) AS n FROM t' })).structuredContent.rows, [{ n: 0 }]);
		damage(path.join(directory, 'shop.db'));
		const failed = await session.call('query', { sql: 'SELECT count(*) FROM t' });
		assert.ok(failed.isError);
		assert.match(text(failed), /malformed/);
		await assert.rejects(session.client.readResource({ uri: 'sqlite://shop/schema' }), /malformed/);
		assert.equal(text(await session.call('fine')), 'fine');
		await fails(7, /c\.json:1:\d+: databases\.shop\.file: .*malformed/, ['serve', '--check', ...args]);
	});

everyWay('a database without tables has a schema that says so', () =>
	config({ databases: { shop: { file: './shop.db', init: './shop.sql' } } }, { 'shop.sql': 'PRAGMA user_version = 1;' }).args,
async session => {
	const { contents } = await session.client.readResource({ uri: 'sqlite://shop/schema' });
	assert.equal(contents[0].text, '-- no tables\n');
	await assert.rejects(session.client.readResource({ uri: 'sqlite://shop/schema/none' }), /not found/i);
});

everyWay('what takes too long in a folder ends, and says how long it may take', () =>
	config({ folders: { d: { path: './d', timeout: '1ms', max_file: '64MB' } } }, { 'd/large.txt': 'line\n'.repeat(10_000_000) }).args,
async session => {
	const late = await session.call('read_file', { path: 'large.txt', offset: 9_999_999 });
	assert.ok(late.isError, text(late).slice(0, 300));
	assert.match(text(late), /took longer than 1 seconds?; ask for less/);
	const some = await session.call('search_files', { pattern: '(e|n)*x$' });
	assert.match(text(some), /time is up and not all files were searched/);
	assert.equal(some.structuredContent.truncated, true);
});

everyWay('files of a template: there, not there, and completed', () => config({
	resources: { 'page://{name}': { file: './pages/{name}.md', complete: { name: ['one', 'other', 'third'] } } }
}, { 'pages/one.md': 'One' }).args, async session => {
	assert.equal((await session.client.readResource({ uri: 'page://one' })).contents[0].text, 'One');
	await assert.rejects(session.client.readResource({ uri: 'page://none' }), /not found/i);
	const { completion } = await session.client.complete({
		ref: { type: 'ref/resource', uri: 'page://{name}' }, argument: { name: 'name', value: 'o' }
	});
	assert.deepEqual(completion.values, ['one', 'other']);
});

test('v1: a file that goes while it is served is not found, a directory in its place is said', async t => {
	const { directory, args } = config({ resources: { 'x://y': { file: './x.txt' } } }, { 'x.txt': 'text' });
	const session = await serve(t, ways[0], args);
	assert.equal((await session.client.readResource({ uri: 'x://y' })).contents[0].text, 'text');
	fs.rmSync(path.join(directory, 'x.txt'));
	await assert.rejects(session.client.readResource({ uri: 'x://y' }), /not found/i);
	fs.mkdirSync(path.join(directory, 'x.txt'));
	await assert.rejects(session.client.readResource({ uri: 'x://y' }), /not a regular file|is a directory/);
	fs.rmdirSync(path.join(directory, 'x.txt'));
	execFileSync('mkfifo', [path.join(directory, 'x.txt')]);
	await assert.rejects(session.client.readResource({ uri: 'x://y' }), /not a regular file|FIFO/);
});

for (const [what, value, why] of [
	['a glob with variables', { resources: { 'x://{a}': { glob: './*.md' } } }, /has no variables: it is what the URIs of the files begin with/],
	['a glob that is none', { resources: { 'x://': { glob: './[a.md' } } }, /glob: the glob "\/\[a\.md" ends in the middle/],
	['a variable that the URI does not have', { resources: { 'x://{a}': { file: './d/{b}.md' } } }, /\{b\} is not a variable of the URI/],
	['variables that the path does not have', { resources: { 'x://{a}': { file: './d/x.md' } } }, /name them in the path/],
	['files that are too large', { folders: { d: { path: '.', max_file: '65MB' } } }, /at most 64MB/],
	['an exclude that is no glob', { folders: { d: { path: '.', exclude: ['a[b'] } } }, /exclude\[0\]: the glob "a\[b" ends in the middle/],
	['a folder that is not there', { folders: { d: { path: './none' } } }, /none.*no such file or directory/],
	['a folder that is a file', { folders: { d: { path: './c.json' } } }, /not a directory/]
])
	test(`--check finds ${what}, and says where`, () =>
		fails(7, new RegExp(`c\\.json:1:\\d+: .*${why.source}`), ['serve', '--check', ...config(value, { 'd/x.md': '' }).args]));

await runCases();
