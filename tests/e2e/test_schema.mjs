// Every message that the server sends in the wire transcripts, checked against the official JSON
// Schema of its revision; and proof that the transcripts make it send every type of message that the
// revision knows.
//
// The lists of types come from the schemas themselves (ServerRequest, ServerNotification,
// ServerResult), so none can be forgotten; what the server does not send is named below with the
// reason. A revision whose schema is nowhere (lib/data.mjs) is skipped.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { schemaFile } from './lib/data.mjs';

const source = process.env.CLEAT_SOURCE_DIR ?? join(dirname(fileURLToPath(import.meta.url)), '../..');
const build = process.env.CLEAT_BUILD_DIR ?? join(source, 'build/debug');
const runner = join(build, 'tests/wire_runner');
const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

// Types that this server does not send, and why not.
const tasks = 'tasks are experimental in 2025-11-25 and not offered';
const unsent = {
	PingRequest: 'the server has no need to ping: the transport tells when a client is gone',
	GetTaskRequest: tasks,
	GetTaskPayloadRequest: tasks,
	CancelTaskRequest: tasks,
	ListTasksRequest: tasks,
	TaskStatusNotification: tasks,
	GetTaskResult: tasks,
	GetTaskPayloadResult: tasks,
	CancelTaskResult: tasks,
	ListTasksResult: tasks,
	HeaderMismatchError: 'needs HTTP headers; these transcripts are those of a pipe',
	URLElicitationRequiredError:
		'the server asks with elicitation/create instead of refusing; only a handler could send it',
};

// The result of each method. Empty ones are `Result` in the schemas' unions.
const results = {
	initialize: 'InitializeResult',
	ping: 'EmptyResult',
	'logging/setLevel': 'EmptyResult',
	'resources/subscribe': 'EmptyResult',
	'resources/unsubscribe': 'EmptyResult',
	'tools/list': 'ListToolsResult',
	'tools/call': 'CallToolResult',
	'resources/list': 'ListResourcesResult',
	'resources/templates/list': 'ListResourceTemplatesResult',
	'resources/read': 'ReadResourceResult',
	'prompts/list': 'ListPromptsResult',
	'prompts/get': 'GetPromptResult',
	'completion/complete': 'CompleteResult',
	'server/discover': 'DiscoverResult',
	'subscriptions/listen': 'SubscriptionsListenResult',
};

// ---- TAP ---------------------------------------------------------------------------------------

let cases = 0;
let failed = 0;

function report(ok, name, lines = []) {
	cases++;
	failed += ok ? 0 : 1;
	console.log(`${ok ? 'ok' : 'not ok'} ${cases} - ${name}`);
	for (const line of lines) console.log(`# ${line}`);
}

function skip(reason) {
	console.log(`1..0 # SKIP ${reason}`);
	process.exit(0);
}

// ---- one revision's schema -----------------------------------------------------------------------

function open(revision) {
	const schema = JSON.parse(readFileSync(schemaFile(revision), 'utf8'));
	const root = schema.$defs ? '$defs' : 'definitions';
	const Validator = schema.$schema.includes('2020-12') ? Ajv2020 : Ajv;
	// Ids beyond a double are legal JSON, but JavaScript reads them as Infinity.
	const ajv = new Validator({ strict: false, allErrors: true, strictNumbers: false });
	addFormats(ajv);
	ajv.addSchema(schema, 'mcp');
	const defs = schema[root];
	const compiled = new Map();
	const validate = (name, value) => {
		if (!defs[name]) return [`the schema has no ${name}`];
		if (!compiled.has(name)) compiled.set(name, ajv.compile({ $ref: `mcp#/${root}/${name}` }));
		const check = compiled.get(name);
		return check(value) ? [] : check.errors.map((e) => `${name}${e.instancePath} ${e.message}`);
	};
	const union = (name) => (defs[name]?.anyOf ?? []).map((o) => o.$ref.split('/').pop());
	return { revision, defs, validate, union };
}

const members = (def) => [def?.properties, ...(def?.allOf ?? []).map((d) => d.properties)];
const constOf = (def, key) => members(def).find((p) => p?.[key]?.const !== undefined)?.[key].const;

function byMethod({ defs }, method, ending) {
	return Object.keys(defs).find((n) => n.endsWith(ending) && constOf(defs[n], 'method') === method);
}

// Errors with a definition of their own: whole responses, or (2026-07-28) error objects.
function typedError({ defs }, code) {
	for (const [name, def] of Object.entries(defs)) {
		if (!name.endsWith('Error')) continue;
		if (constOf(def, 'code') === code) return { name, part: 'error' };
		if (constOf(def.properties?.error, 'code') === code) return { name, part: 'message' };
	}
	return undefined;
}

// ---- one message ---------------------------------------------------------------------------------

// Gives the type of a message and what is wrong with it.
function checkError(schema, message) {
	const envelope = schema.defs.JSONRPCError ? 'JSONRPCError' : 'JSONRPCErrorResponse';
	let checked = message;
	// JSON-RPC 2.0, 5: an error whose request's id could not be read has the id null. Revisions up to
	// 2025-06-18 say that they follow JSON-RPC, but their schemas have no place for it (2025-11-25
	// made the id optional). The rest of the message is checked all the same.
	if (schema.defs.JSONRPCError && message.id === null) checked = { ...message, id: 0 };
	const typed = typedError(schema, message.error?.code);
	const problems = schema.validate(envelope, checked);
	if (typed)
		problems.push(
			...schema.validate(typed.name, typed.part === 'error' ? message.error : message),
		);
	return { type: typed?.name ?? envelope, problems };
}

function checkResult(schema, { answers, message }) {
	const envelope = schema.defs.JSONRPCResultResponse ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
	const asking = message.result?.resultType === 'input_required';
	// What a program adds to the protocol has no schema but that of all results; nor has what only the server can read
	// (a byte order mark before the request).
	const own = answers === null || answers.startsWith('com.example/') ? 'Result' : undefined;
	const type = asking ? 'InputRequiredResult' : (results[answers] ?? own);
	const problems = schema.validate(envelope, message);
	if (!type) problems.push(`an answer to ${answers}, which has no result`);
	else problems.push(...schema.validate(type, message.result));
	if (schema.defs[`${results[answers]}Response`])
		problems.push(...schema.validate(`${results[answers]}Response`, message));
	return { type, problems };
}

function checkOwn(schema, { direction, message }) {
	const request = direction === 'request';
	const type = byMethod(schema, message.method, request ? 'Request' : 'Notification');
	if (!type) return { type: message.method, problems: ['a method that the schema does not know'] };
	return {
		type,
		problems: [
			...schema.validate(request ? 'JSONRPCRequest' : 'JSONRPCNotification', message),
			...schema.validate(type, message),
		],
	};
}

function check(schema, entry) {
	if (entry.direction !== 'response') return checkOwn(schema, entry);
	return entry.message.error ? checkError(schema, entry.message) : checkResult(schema, entry);
}

// ---- everything ----------------------------------------------------------------------------------

// Every type that a server of this revision may send.
function wanted(schema) {
	const types = new Set([
		...schema.union('ServerRequest'),
		...schema.union('InputRequest'),
		...schema.union('ServerNotification'),
		...schema.union('ServerResult'),
		schema.defs.JSONRPCError ? 'JSONRPCError' : 'JSONRPCErrorResponse',
		...Object.keys(schema.defs).filter((n) => /.Error$/.test(n) && n !== 'JSONRPCError'),
	]);
	// Modern results have no empty one.
	types.delete('Result');
	if (schema.revision < '2026') types.add('EmptyResult');
	return types;
}

function verify(schema, entries) {
	const seen = new Map();
	const note = (type, problems, message) => {
		const t = seen.get(type) ?? { count: 0, bad: [] };
		t.count++;
		if (problems.length) t.bad.push([message, problems]);
		seen.set(type, t);
	};
	for (const entry of entries) {
		const { type, problems } = check(schema, entry);
		note(type, problems, entry.message);
		for (const q of Object.values(entry.message.result?.inputRequests ?? {})) {
			const question = byMethod(schema, q.method, 'Request');
			note(question, schema.validate(question, q), q);
		}
	}
	const types = wanted(schema);
	if (seen.has('Result')) types.add('Result'); // of what a program adds to the protocol
	for (const type of new Set([...types, ...seen.keys()])) {
		const t = seen.get(type);
		const name = `${schema.revision} ${type}`;
		if (!types.has(type)) {
			report(false, `${name} is a message of a server`, t.bad.flat(2).map(String).slice(0, 3));
		} else if (unsent[type]) {
			report(!t, `${name} is not sent: ${unsent[type]}`);
		} else if (!t) {
			report(false, `${name} is produced by a transcript`);
		} else {
			const lines = t.bad
				.slice(0, 3)
				.flatMap(([m, p]) => [JSON.stringify(m).slice(0, 300), ...p.slice(0, 4)]);
			report(t.bad.length === 0, `${name}: ${t.count} valid`, lines);
		}
	}
}

if (!existsSync(runner)) skip(`${runner} is not built`);

const scratch = mkdtempSync(join(tmpdir(), 'cleat-schema-'));
try {
	const dump = join(scratch, 'messages');
	try {
		execFileSync(runner, ['--dump', dump, join(source, 'tests/wire')], { stdio: 'ignore' });
	} catch {
		// Transcripts that fail are reported by the test "wire"; what was sent is checked all the same.
	}
	const entries = readFileSync(dump, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
	report(entries.length > 1000, `the transcripts made the server send ${entries.length} messages`);
	for (const revision of revisions)
		if (schemaFile(revision)) verify(open(revision), entries.filter((e) => e.revision === revision));
		else report(true, `${revision}: what the server sends is valid # SKIP no schema (set CLEAT_TEST_DATA)`);
	const other = entries.filter((e) => !revisions.includes(e.revision));
	report(other.length === 0, 'every message belongs to a revision', other.map((e) => JSON.stringify(e)));
} finally {
	rmSync(scratch, { recursive: true });
}
console.log(`1..${cases}`);
process.exitCode = failed ? 1 : 0;
