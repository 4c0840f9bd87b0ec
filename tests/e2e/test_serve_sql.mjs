// `cleat serve` with SQLite databases: the query tool, named statements, the schema as resources, and what a
// model must not be able to do.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleat, place, run } from './lib/cli.mjs';
import { byHand, everyWay, serve, text } from './lib/serve.mjs';
import { run as runCases, test } from './lib/tap.mjs';
import { v2Modern } from './lib/v2.mjs';

const sample = `
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER, photo BLOB);
CREATE TABLE visits (person INTEGER NOT NULL REFERENCES people (id), day TEXT DEFAULT '2026-01-01');
CREATE UNIQUE INDEX by_name ON people (name);
CREATE VIEW adults AS SELECT * FROM people WHERE born < 2008;
INSERT INTO people (name, born, photo) VALUES ('Ada', 1815, x'00ff'), ('Bo; DROP TABLE people', 1990, NULL), ('Zoë', 2015, NULL);
INSERT INTO visits VALUES (1, '2026-02-03'), (1, '2026-02-04'), (3, '2026-02-05');`;

const config = (more = {}, tools = {}) => JSON.stringify({
	databases: { shop: { file: './shop.db', init: './shop.sql', ...more } },
	tools: {
		by_name: { args: 'name: string, limit: integer = 5', sql: { database: 'shop', query: 'SELECT id, name FROM people WHERE name = :name OR :name IS NULL LIMIT :limit' } },
		optional: { args: 'born?: integer', sql: { database: 'shop', query: 'SELECT coalesce(:born, -1) AS given' } },
		types: { args: 'a: json, b: json, c: json, d: json', sql: { database: 'shop', query: 'SELECT typeof(:a) a, typeof(:b) b, typeof(:c) c, typeof(:d) d, :d AS value' } },
		...tools
	}
});
const files = (more, tools) => place({ 'shop.sql': sample, 'serve.json': config(more, tools) });
const served = (more, tools) => [path.join(files(more, tools), 'serve.json')];

everyWay('query gives rows as structured content, and says when there are more', () => served(), async session => {
	const { tools } = await session.client.listTools();
	assert.deepEqual(tools.map(t => t.name).sort(), ['by_name', 'optional', 'query', 'types']);
	const query = tools.find(t => t.name === 'query');
	assert.equal(query.annotations.readOnlyHint, true);
	assert.ok(query.outputSchema);
	const all = await session.call('query', { sql: 'SELECT id, name, born, photo FROM people ORDER BY id' });
	assert.deepEqual(all.structuredContent, { columns: ['id', 'name', 'born', 'photo'], truncated: false, rows: [
		{ id: 1, name: 'Ada', born: 1815, photo: { base64: 'AP8=' } },
		{ id: 2, name: 'Bo; DROP TABLE people', born: 1990, photo: null },
		{ id: 3, name: 'Zoë', born: 2015, photo: null }] });
	assert.deepEqual(JSON.parse(text(all)), all.structuredContent);
	const some = await session.call('query', { sql: 'SELECT name FROM people', limit: 2 });
	assert.equal(some.structuredContent.rows.length, 2);
	assert.equal(some.structuredContent.truncated, true);
	assert.match(some.structuredContent.note, /first 2 rows/);
	const twice = await session.call('query', { sql: 'SELECT 1 AS x, 2 AS x, 3 AS y' });
	assert.deepEqual(twice.structuredContent.rows, [{ x: 1, x_2: 2, y: 3 }]);
});

everyWay('values are bound, by position and by name', () => served(), async session => {
	const rows = async (sql, params) => (await session.call('query', { sql, params })).structuredContent?.rows;
	assert.deepEqual(await rows('SELECT name FROM people WHERE name = ? AND born > ?', ['Bo; DROP TABLE people', 1900]), [{ name: 'Bo; DROP TABLE people' }]);
	assert.deepEqual(await rows('SELECT :a || @b || $c AS x', { a: "'; --", b: '"', c: '\n' }), [{ x: '\'; --"\n' }]);
	assert.deepEqual(await rows('SELECT ? AS n, ? AS t, ? AS r, ? AS j', [null, true, 1.5, { a: [1] }]), [{ n: null, t: 1, r: 1.5, j: '{"a":[1]}' }]);
	for (const [sql, params, why] of [
		['SELECT ?', [], /no value for parameter 1/], ['SELECT :a', {}, /no value for :a/],
		['SELECT :a', { a: 1, b: 2 }, /no parameter :b/], ['SELECT 1', [1], /has 0 parameters, but 1 values/]]) {
		const result = await session.call('query', { sql, params });
		assert.ok(result.isError);
		assert.match(text(result), why);
	}
});

everyWay('named statements: arguments by their types, an absent one is NULL', () => served(), async session => {
	const rows = async (name, args) => (await session.call(name, args)).structuredContent.rows;
	assert.deepEqual(await rows('by_name', { name: 'Ada' }), [{ id: 1, name: 'Ada' }]);
	assert.deepEqual(await rows('by_name', { name: "x' OR '1'='1" }), []);
	assert.deepEqual(await rows('optional', {}), [{ given: -1 }]);
	assert.deepEqual(await rows('optional', { born: 7 }), [{ given: 7 }]);
	assert.deepEqual(await rows('types', { a: 'x', b: 1, c: 1.5, d: [1, { x: 'y' }] }), [{ a: 'text', b: 'integer', c: 'real', d: 'text', value: '[1,{"x":"y"}]' }]);
});

everyWay('a model cannot change, attach, or leave anything', () => served(), async session => {
	for (const sql of ["INSERT INTO people (name) VALUES ('x')", 'DELETE FROM people', 'DROP TABLE visits', "ATTACH '/tmp/cleat-e2e-attached.db' AS x",
		"VACUUM INTO '/tmp/cleat-e2e-vacuum.db'", 'PRAGMA writable_schema = 1', "SELECT load_extension('x')", 'BEGIN', 'SELECT 1; SELECT 2',
		"CREATE TEMP TABLE x AS SELECT 1", 'SELECT \u0000', 'no sql at all', '']) {
		const result = await session.call('query', { sql }).catch(error => ({ isError: true, content: [{ type: 'text', text: error.message }] }));
		assert.ok(result.isError, sql);
		assert.ok(text(result).length > 10, `${sql}: ${text(result)}`);
	}
	assert.ok(!fs.existsSync('/tmp/cleat-e2e-attached.db') && !fs.existsSync('/tmp/cleat-e2e-vacuum.db'));
	const { structuredContent } = await session.call('query', { sql: 'SELECT count(*) AS n FROM people' });
	assert.deepEqual(structuredContent.rows, [{ n: 3 }]);
});

everyWay('a statement that never ends is ended; others are not disturbed', () => served({ timeout: '3s' }), async session => {
	const endless = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
	const [slow, quick] = await Promise.all([session.call('query', { sql: endless }), session.call('query', { sql: 'SELECT 1 AS one' })]);
	assert.ok(slow.isError);
	assert.match(text(slow), /took too long/);
	assert.deepEqual(quick.structuredContent.rows, [{ one: 1 }]);
	const large = await session.call('query', { sql: 'SELECT hex(zeroblob(20000000)) AS x' });
	assert.ok(large.isError);
	assert.match(text(large), /too big/);
});

everyWay('the schema is there as resources, tables are completed', () => served(), async session => {
	const { resources } = await session.client.listResources();
	assert.deepEqual(resources.map(r => r.uri), ['sqlite://shop/schema']);
	const schema = (await session.client.readResource({ uri: 'sqlite://shop/schema' })).contents[0];
	assert.equal(schema.mimeType, 'application/sql');
	assert.match(schema.text, /CREATE TABLE people[^]*CREATE VIEW adults[^]*CREATE UNIQUE INDEX by_name/);
	const table = JSON.parse((await session.client.readResource({ uri: 'sqlite://shop/tables/visits' })).contents[0].text);
	assert.deepEqual(table.columns, [
		{ name: 'person', type: 'INTEGER', required: true, default: null, primary_key: false },
		{ name: 'day', type: 'TEXT', required: false, default: "'2026-01-01'", primary_key: false }]);
	assert.deepEqual(table.foreign_keys, [{ from: 'person', table: 'people', to: 'id' }]);
	await assert.rejects(session.client.readResource({ uri: 'sqlite://shop/tables/nothing' }), /not found/i);
	const { completion } = await session.client.complete({ ref: { type: 'ref/resource', uri: 'sqlite://shop/tables/{table}' }, argument: { name: 'table', value: 'p' } });
	assert.deepEqual(completion.values, ['people']);
});

everyWay('with "write" there is execute; query still only reads', () => served({ write: true }), async session => {
	const { tools } = await session.client.listTools();
	assert.equal(tools.find(t => t.name === 'execute').annotations.destructiveHint, true);
	const done = await session.call('execute', { sql: 'INSERT INTO people (name, born) VALUES (:name, 2001) RETURNING id', params: { name: 'New' } });
	assert.deepEqual(done.structuredContent, { columns: ['id'], rows: [{ id: 4 }], truncated: false, changes: 1, last_insert_rowid: 4 });
	assert.ok((await session.call('query', { sql: 'DELETE FROM people' })).isError);
	const broken = await session.call('execute', { sql: 'INSERT INTO visits (person) VALUES (99)' });
	assert.match(text(broken), /FOREIGN KEY constraint failed/);
	assert.deepEqual((await session.call('query', { sql: 'SELECT name FROM people WHERE id = 4' })).structuredContent.rows, [{ name: 'New' }]);
});

// sqlite.org/howtocorrupt.html 2.2: any descriptor of a file that is closed takes all locks of the process on it
// along. One that reads a database with a log (WAL) keeps a lock on the file "-shm" as long as it is connected.
everyWay('a database is not touched by the tools of a folder that it lies in, and keeps its locks', () => {
	const databases = { shop: { file: './shop.db', init: './shop.sql', write: true, prefix: 'shop_' } };
	const directory = place({
		'shop.sql': `PRAGMA journal_mode = wal;${sample}`, 'notes.txt': 'SQLite Ada\n',
		'first.json': JSON.stringify({ databases }), 'raw.json': JSON.stringify({ databases, resources: { 'raw://db': { file: './shop.db' } } }),
		'serve.json': JSON.stringify({ databases, folders: { here: { path: '.', write: true } }, resources: { 'raw://{+path}': { file: './{path}' } } })
	});
	execFileSync(cleat, ['call', '--', cleat, 'serve', path.join(directory, 'first.json'), '--', 'shop_query', 'sql=SELECT 1'], { stdio: 'ignore' });
	return [path.join(directory, 'serve.json')];
}, async session => {
	const directory = path.dirname(session.way.link === 'stdio' ? session.transport._serverParams.args.at(-1) : session.server.child.spawnargs.at(-1));
	assert.equal((await session.call('shop_query', { sql: 'SELECT count(*) AS n FROM people' })).structuredContent.rows[0].n, 3);
	const { ino } = fs.statSync(path.join(directory, 'shop.db-shm'));
	const locks = () => fs.readFileSync('/proc/locks', 'utf8').split('\n').filter(line => / POSIX /.test(line) && new RegExp(`:${ino} `).test(line)).length;
	const before = locks();
	assert.ok(before > 0, fs.readFileSync('/proc/locks', 'utf8'));
	for (const [file, words] of [['shop.db', 'is a database'], ['shop.db-shm', 'is part of a database'], ['shop.db-wal', 'is part of a database'], ['./shop.db', 'is a database']])
		for (const [tool, args] of [['read_file', { path: file }], ['read_file', { path: file, tail: 1 }], ['write_file', { path: file, content: '', overwrite: true }],
			['edit_file', { path: file, old: 'a', new: 'b' }], ['move_file', { from: file, to: 'x' }], ['remove_file', { path: file }]]) {
			const result = await session.call(tool, args);
			assert.equal(result.isError, true, `${tool} ${file}: ${text(result)}`);
			assert.match(text(result), new RegExp(`${words} that is served here; use the tool shop_query`), tool);
		}
	assert.match(text(await session.call('move_file', { from: 'notes.txt', to: 'shop.db', overwrite: true })), /is a database that is served here/);
	await assert.rejects(session.client.readResource({ uri: 'here:///shop.db-shm' }), /is part of a database that is served here/);
	await assert.rejects(session.client.readResource({ uri: 'raw://shop.db' }), /not found/);
	const raw = await run(['serve', '--check', path.join(directory, 'raw.json')]);
	assert.match(raw.stderr, /resources\."raw:\/\/db"\.file: .*shop\.db: is a database that is served here; use the tool shop_query/);
	const found = await session.call('search_files', { pattern: 'Ada|SQLite' });
	assert.deepEqual(found.structuredContent.matches.map(m => m.path), ['notes.txt', 'shop.sql']);
	assert.match(text(await session.call('list_files')), /shop\.db-shm/);
	assert.equal(locks(), before);
	assert.equal((await session.call('shop_execute', { sql: "INSERT INTO people (name) VALUES ('Eve')" })).isError ?? false, false);
	assert.equal((await session.call('shop_query', { sql: 'SELECT count(*) AS n FROM people' })).structuredContent.rows[0].n, 4);
	assert.match(text(await session.call('read_file', { path: 'notes.txt' })), /SQLite Ada/);
});

test('--sqlite FILE: read-only; --sqlite FILE:rw: a new file, too; by hand', async () => {
	const cwd = place({ 'shop.sql': sample });
	fs.writeFileSync(path.join(cwd, 'serve.json'), config());
	await byHand('call', [path.join(cwd, 'serve.json')], ['query', 'sql=SELECT 1']); // makes shop.db
	const shown = await byHand('ls', ['--sqlite', 'shop.db'], [], { cwd });
	assert.match(shown.stdout, /^query\(sql: string/);
	assert.doesNotMatch(shown.stdout, /execute/);
	const result = await byHand('call', ['--sqlite', 'shop.db'], ['query', 'sql=SELECT name FROM people WHERE id = :id', 'params:={"id": 3}', '--jq', '.structuredContent.rows[0].name'], { cwd });
	assert.equal(result.stdout, 'Zoë\n');
	const made = await byHand('call', ['--sqlite', 'new.db:rw'], ['execute', 'sql=CREATE TABLE t (x)'], { cwd });
	assert.equal(made.code, 0, made.stderr);
	assert.ok(fs.existsSync(path.join(cwd, 'new.db')));
	const two = await byHand('ls', ['--sqlite', 'shop.db', '--sqlite', 'new.db'], ['--names'], { cwd });
	assert.deepEqual(two.stdout.trim().split('\n').sort(), ['new_query', 'shop_query']);
});

test('--check leaves no trace: no new file, no log, nothing attached', async () => {
	const first = { databases: { logged: { file: './logged.db', init: './logged.sql' } } };
	const directory = place({
		'logged.sql': `PRAGMA journal_mode = wal;${sample}`, 'first.json': JSON.stringify(first),
		'new.sql': "ATTACH 'other.db' AS o; CREATE TABLE o.x (a); CREATE TABLE t (a);",
		'serve.json': JSON.stringify({
			databases: {
				logged: { file: './logged.db', write: true }, made: { file: './made.db', init: './logged.sql' },
				attaches: { file: './attaches.db', init: './new.sql' }, empty: { file: './empty.db', write: true }
			},
			tools: {
				insert: { args: 'name: string', sql: { database: 'logged', query: 'INSERT INTO people (name) VALUES (:name)' } },
				unknown: { sql: { database: 'attaches', query: 'SELECT a FROM t' } }
			}
		})
	});
	await byHand('call', [path.join(directory, 'first.json')], ['query', 'sql=SELECT 1']);
	const look = () => fs.readdirSync(directory).sort().map(name => `${name} ${fs.statSync(path.join(directory, name)).size} ${fs.statSync(path.join(directory, name)).mtimeMs}`);
	const before = look();
	assert.ok(before.some(line => line.startsWith('logged.db ')), before.join());
	const check = await run(['serve', '--check', path.join(directory, 'serve.json')], { cwd: directory });
	assert.equal(check.code, 0, check.stderr);
	assert.match(check.stderr, /attaches\.db: its "init" uses other files \(ATTACH or VACUUM INTO\), so what it makes is not known before it is made/);
	assert.deepEqual(look(), before);
	// a mistake in a statement of a database that is not opened for writing is found all the same
	fs.writeFileSync(path.join(directory, 'bad.json'), JSON.stringify({ ...first, tools: { t: { sql: { database: 'logged', query: 'SELECT nme FROM people' } } } }));
	assert.match((await run(['serve', '--check', path.join(directory, 'bad.json')])).stderr, /no such column: nme/);
	fs.rmSync(path.join(directory, 'bad.json'));
	assert.deepEqual(look(), before);
});

test('mistakes are found when the configuration is read', async () => {
	for (const [more, tools, pattern] of [
		[{}, { t: { sql: { database: 'shp', query: 'SELECT 1' } } }, /there is no database "shp".*did you mean "shop"\?/],
		[{}, { t: { sql: { database: 'shop', query: 'SELECT nme FROM people' } } }, /serve\.json:1:\d+: tools\.t\.sql\.query: no such column: nme, at character 8/],
		[{}, { t: { args: 'name: string', sql: { database: 'shop', query: 'SELECT :nane' } } }, /parameter :nane is not an argument of the tool; did you mean :name\?/],
		[{}, { t: { sql: { database: 'shop', query: 'SELECT ?' } } }, /parameters need names/],
		[{}, { t: { sql: { database: 'shop', query: 'DELETE FROM people' } } }, /only statements that read data/],
		[{ init: './missing.sql' }, {}, /missing\.sql/],
		[{ init: undefined, file: './none.db' }, {}, /none\.db.*No such file/],
		[{ init: undefined, file: './serve.json' }, {}, /file is not a database/]]) {
		const cwd = files(more, tools);
		const { code, stdout, stderr } = await run(['serve', '--check', 'serve.json'], { cwd });
		assert.equal(code, 7, `${pattern}: ${stdout}${stderr}`);
		assert.match(stdout + stderr, pattern);
		assert.ok(!fs.existsSync(path.join(cwd, 'shop.db')), '--check makes nothing');
	}
});

test('a call that is cancelled ends its statement', async t => {
	const session = await serve(t, v2Modern, served({ timeout: '60s' }));
	const controller = new AbortController();
	const call = session.call('query', { sql: 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n' }, { signal: controller.signal });
	setTimeout(() => controller.abort(), 100);
	await assert.rejects(call);
	const cpu = () => Number(execFileSync('ps', ['-o', 'cputimes=', '-p', String(session.pid)]));
	const { structuredContent } = await session.call('query', { sql: 'SELECT 1 AS one' });
	assert.deepEqual(structuredContent.rows, [{ one: 1 }]);
	assert.ok(cpu() < 10);
});

await runCases();
