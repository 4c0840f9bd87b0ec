// Our client with two servers that people use: @modelcontextprotocol/server-filesystem on a directory of its
// own, and @modelcontextprotocol/server-memory with a file of its own.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { good, names, ours } from './lib/driver.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { packaged } from './lib/node_server.mjs';
import { run, test } from './lib/tap.mjs';

const filesystem = (...directories) => packaged('@modelcontextprotocol/server-filesystem', 'dist/index.js', ...directories);
const memory = packaged('@modelcontextprotocol/server-memory', 'dist/index.js');

class Directory {
	path = realpathSync(mkdtempSync(join(tmpdir(), 'cleat-files-')));

	async end() {
		rmSync(this.path, { recursive: true });
		return [];
	}
}

test('filesystem: files are written, read, edited, moved and found', async t => {
	const { path } = t.use(new Directory());
	const s = await t.open(ours, { argv: filesystem(path) });
	assert.equal(names(await s.list('tools')).length, 14);
	const note = join(path, 'note.txt');
	const text = 'first\nsecond ä€😀\n' + 'x'.repeat(100_000) + '\n';
	good(await s.call('write_file', { path: note, content: text }));
	assert.equal(readFileSync(note, 'utf8'), text);
	assert.equal(await s.text('read_text_file', { path: note }), text);
	assert.equal(await s.text('read_text_file', { path: note, head: 1 }), 'first');
	good(await s.call('edit_file', { path: note, edits: [{ oldText: 'second', newText: 'SECOND' }] }));
	assert.match(readFileSync(note, 'utf8'), /^first\nSECOND ä€😀\n/);
	good(await s.call('create_directory', { path: join(path, 'sub') }));
	good(await s.call('move_file', { source: note, destination: join(path, 'sub', 'moved.txt') }));
	assert.match(await s.text('list_directory', { path }), /\[DIR\] sub/);
	assert.match(await s.text('search_files', { path, pattern: '**/*.txt' }), /sub\/moved\.txt/);
	assert.match(await s.text('get_file_info', { path: join(path, 'sub', 'moved.txt') }), /size: \d+/);
	const tree = JSON.parse(await s.text('directory_tree', { path }));
	assert.deepEqual(tree.map(x => x.name), ['sub']);
});

test('filesystem: a picture arrives as its bytes', async t => {
	const { path } = t.use(new Directory());
	const file = join(path, 'dot.png');
	const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=', 'base64');
	writeFileSync(file, png);
	const s = await t.open(ours, { argv: filesystem(path) });
	const result = good(await s.call('read_media_file', { path: file }));
	assert.deepEqual([result.blocks[0].kind, result.blocks[0].mime, result.blocks[0].size], ['image', 'image/png', png.length]);
});

test('filesystem: a large file arrives whole, or not at all where there is a limit', async t => {
	const { path } = t.use(new Directory());
	const file = join(path, 'large.txt');
	const text = '0123456789abcde\n'.repeat(5 * 65536);
	writeFileSync(file, text);
	const s = await t.open(ours, { argv: filesystem(path) });
	assert.ok((await s.text('read_text_file', { path: file })) === text);
	const small = await t.open(ours, { argv: filesystem(path), max_message: 1 << 20 });
	const refused = await small.call('read_text_file', { path: file });
	assert.deepEqual([refused.status, refused.step], ['over a limit', 'protocol']);
	assert.match(await small.text('list_directory', { path }), /large\.txt/);
});

test('filesystem: what lies outside is refused, and the refusal is the tool’s', async t => {
	const { path } = t.use(new Directory());
	const s = await t.open(ours, { argv: filesystem(path) });
	const refused = await s.call('read_text_file', { path: '/etc/passwd' });
	assert.equal(refused.toolError, true);
	assert.match(refused.error.message, /denied/);
});

test('filesystem: our roots are its directories, also when they change', async t => {
	const a = t.use(new Directory());
	const b = t.use(new Directory());
	const root = directory => ({ uri: pathToFileURL(directory.path).href, name: 'root' });
	mkdirSync(join(a.path, 'inside'));
	const s = await t.open(ours, { argv: filesystem(), roots: [root(a)] });
	await s.event('stderr', e => /Updated allowed directories/.test(e.stderr));
	assert.match(await s.text('list_directory', { path: a.path }), /inside/);
	assert.equal((await s.call('list_directory', { path: b.path })).toolError, true);
	good(await s.ask({ roots: [root(b)] }));
	await s.event('stderr', e => /Updated allowed directories/.test(e.stderr), 2);
	good(await s.call('list_directory', { path: b.path }));
	assert.equal((await s.call('list_directory', { path: a.path })).toolError, true);
});

test('memory: a graph is built, searched, and still there in the next process', async t => {
	const { path } = t.use(new Directory());
	const options = { argv: memory, env: [`MEMORY_FILE_PATH=${join(path, 'graph.jsonl')}`] };
	const s = await t.open(ours, options);
	assert.equal(names(await s.list('tools')).length, 9);
	const entities = ['Ann', 'Bob'].map(name => ({ name, entityType: 'person', observations: [`${name} likes äöü`] }));
	assert.deepEqual(good(await s.call('create_entities', { entities })).json.entities, entities);
	good(await s.call('create_relations', { relations: [{ from: 'Ann', to: 'Bob', relationType: 'knows' }] }));
	assert.deepEqual(await s.end(), []);

	const again = await t.open(ours, options);
	const graph = good(await again.call('read_graph')).json;
	assert.deepEqual(graph.entities, entities);
	assert.deepEqual(graph.relations, [{ from: 'Ann', to: 'Bob', relationType: 'knows' }]);
	assert.deepEqual(good(await again.call('search_nodes', { query: 'Bob likes' })).json.entities.map(e => e.name), ['Bob']);
	good(await again.call('delete_entities', { entityNames: ['Bob'] }));
	assert.deepEqual(good(await again.call('open_nodes', { names: ['Ann', 'Bob'] })).json.entities.map(e => e.name), ['Ann']);
});

leftoverCase();
await run();
