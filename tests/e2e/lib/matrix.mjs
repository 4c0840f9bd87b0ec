// matrix.mjs - every verb of `cleat` that talks to a server, with a server that is described by what it has to
// answer, over pipes and HTTP, in the eras that it speaks. A way of reaching a server changes nothing of what is
// printed: all ways are held to the same golden files.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { bytes, cleat, heard, place, run, start } from './cli.mjs';
import { expect, fails } from './expect.mjs';
import { golden, pretty, steady } from './golden.mjs';
import { test, within } from './tap.mjs';

const REVISION = { legacy: '2025-11-25', modern: '2026-07-28' };
const jq = /libjq\.so\.1\) found/.test((await run(['version'])).stdout) ? '--jq' : undefined; // optional on a machine

// ---- how a server is reached ---------------------------------------------------------------------

/** A server by one way in one era: `at(verb, ...options, '|', ...words)` is a command line. */
function reach(server, link, era, url) {
	const address = link === 'http' ? [url] : ['--', ...server.argv];
	return {
		...server, link, era, url,
		slow: link === 'stdio' && server.argv[0] === process.execPath, // each command starts Node: what counts only
		at(verb, ...rest) {
			const bar = rest.includes('|') ? rest.indexOf('|') : rest.length;
			const [options, words] = [rest.slice(0, bar), rest.slice(bar + 1)];
			return [verb, '-q', '--era', era, ...options, ...address, ...(words.length && link === 'stdio' ? ['--'] : []), ...words];
		}
	};
}

/** Without a remark. */
async function good(args, options) {
	const result = await expect(args, {}, options);
	assert.equal(result.stderr, '', args.join(' '));
	return result.stdout;
}

/** All at once: programs take their time to start. */
const together = (s, ...commands) => Promise.all(commands.map(([verb, ...rest]) => good(s.at(verb, ...rest))));

/** What a result has beside what it is about, which depends on the revision. */
function bare(result) {
	const { _meta, resultType, ttlMs, cacheScope, ...rest } = result;
	return rest;
}

const only = (names, lists) => names.map(name => lists[name].map(x => x.uriTemplate ?? x.uri ?? x.name));

// ---- the verbs ------------------------------------------------------------------------------------

const verbs = {
	async ls(s) {
		const [people, all] = await together(s, ['ls', '--all'], ['ls', '--all', '--json']);
		assert.match(people, s.line);
		golden(`${s.name}-ls-all.txt`, people);
		const lists = JSON.parse(all);
		golden(`${s.name}-ls-all-${s.era}.json`, pretty(lists));
		assert.deepEqual(Object.keys(lists), ['tools', 'resources', 'resourceTemplates', 'prompts']);
		const [toolNames, uris, templates, prompts] = only(Object.keys(lists), lists);
		assert.equal(uris.length, s.resources);
		assert.deepEqual(templates, s.templates);
		assert.deepEqual(prompts, s.prompts);
		if (s.slow) return;
		const [tools, names, resources, rest] = await together(s, ['ls'], ['ls', '--names', '--tools'], ['ls', '-r', '--names'],
			['ls', '--templates', '--prompts', '--names']);
		assert.ok(people.includes(`Tools:\n${tools}\n`));
		assert.deepEqual(names.trim().split('\n'), toolNames);
		assert.deepEqual(resources.trim().split('\n'), uris);
		for (const name of [...templates, ...prompts]) assert.ok(rest.split('\n').includes(name), rest);
		if (jq) assert.equal(await good(s.at('ls', '--prompts', jq, '.prompts[0].name')), `${prompts[0]}\n`);
	},

	async show(s) {
		const some = s.slow ? s.show.slice(0, 1) : s.show;
		const texts = await together(s, ...some.map(name => ['show', '|', name]));
		for (const [i, text] of texts.entries()) golden(`${s.name}-show-${i + 1}.txt`, text);
		if (s.slow) return;
		const [whole, schema] = await together(s, ['show', '--json', '|', s.show[0]], ['show', '--schema', '|', s.show[0]]);
		assert.equal(JSON.parse(whole).name, s.show[0]);
		assert.deepEqual(JSON.parse(schema), JSON.parse(whole).inputSchema);
		await fails(5, /there is nothing called "nobody"/, s.at('show', '|', 'nobody'));
	},

	async call(s) {
		const [text, json] = await together(s, ['call', '|', ...s.tool], ['call', '--json', '|', ...s.tool]);
		assert.equal(text, `${s.says}\n`);
		golden(`${s.name}-call-${s.era}.json`, json);
		assert.deepEqual(bare(JSON.parse(json)), { content: [{ type: 'text', text: s.says }] });
		assert.equal(JSON.parse(json).resultType, s.era === 'modern' ? 'complete' : undefined);
		if (s.slow) return;
		const [structured, people] = await together(s, ['call', '--json', '|', ...s.structured.call], ['call', '|', ...s.structured.call]);
		if (jq) assert.equal(await good(s.at('call', jq, '.content[0].text', '|', ...s.tool)), `${s.says}\n`);
		assert.deepEqual(JSON.parse(structured).structuredContent, s.structured.is);
		golden(`${s.name}-call-structured.txt`, people);
	},

	async 'call, that fails'(s) {
		const broken = s.fails.call.filter(word => word.startsWith('--')), words = s.fails.call.filter(word => !word.startsWith('--'));
		await fails(5, s.fails.says, s.at('call', ...broken, '|', ...words));
		if (s.slow) return;
		await Promise.all([
			fails(5, /there is no tool "nobody"/, s.at('call', '|', 'nobody')),
			fails(2, /missing argument|not an argument/, s.at('call', '|', s.tool[0], '=')),
			fails(2, /has no argument "zzz"|"zzz"/, s.at('call', '|', ...s.tool, 'zzz=1'))
		]);
	},

	async 'call, that asks'(s) {
		if (s.asks.modern && s.era !== 'modern' && s.link === 'http') return; // there is no way back to the client
		assert.match(await good(s.at('call', ...s.asks.accept, '|', ...s.asks.call)), s.asks.accepted);
		if (s.slow) return;
		const [declined, nobody] = await Promise.all([
			run(s.at('call', '--decline', '|', ...s.asks.call)),
			fails(1, /there is no terminal/, s.at('call', '|', ...s.asks.call))
		]);
		assert.equal(declined.code, s.asks.code ?? 0);
		assert.match(declined.stdout + declined.stderr, s.asks.declined);
		assert.match(nobody.stderr, /--answer|--decline/);
	},

	async read(s) {
		const [text, json] = await together(s, ['read', '|', s.text[0]], ['read', '--json', '|', s.text[0]]);
		assert.match(text.replace(/\n$/, ''), s.text[1]);
		const [part] = JSON.parse(json).contents;
		assert.equal(part.uri, s.text[0]);
		assert.match(part.text, s.text[1]);
		const blob = bytes(s.at('read', '|', s.blob[0]));
		assert.equal(blob.status, 0);
		assert.match(blob.stdout.toString('latin1'), s.blob[1]);
		if (s.slow) return;
		const cwd = place();
		await good(s.at('read', '-o', 'file', '|', s.blob[0]), { cwd });
		assert.equal(fs.statSync(path.join(cwd, 'file')).size, blob.stdout.length);
		await fails(5, /./, s.at('read', '|', 'nowhere://at/all'));
	},

	async prompt(s) {
		const [text, json] = await together(s, ['prompt', '|', ...s.prompt.get], ['prompt', '--json', '|', ...s.prompt.get]);
		assert.equal(text, s.prompt.is);
		const [message] = JSON.parse(json).messages;
		assert.equal(`${message.role}:\n${message.content.text}\n`, s.prompt.is);
		if (s.slow) return;
		await fails(5, /there is no prompt "nobody"/, s.at('prompt', '|', 'nobody'));
		await fails(2, /missing argument/, s.at('prompt', '|', s.prompt.get[0]));
	},

	async complete(s) {
		for (const [words, values] of s.complete.slice(0, s.slow ? 1 : undefined)) {
			const [text, json] = await together(s, ['complete', '|', ...words], ['complete', '--json', '|', ...words]);
			assert.deepEqual(text.trim().split('\n'), values);
			assert.deepEqual(JSON.parse(json).completion.values, values);
		}
	},

	async ping(s) {
		assert.match(await good(s.at('ping')), new RegExp(`^${s.is[0]} answers after \\d+\\.\\d+ ms\n$`));
		if (s.slow) return;
		const three = JSON.parse(await good(s.at('ping', '-c', '3', '-i', '1ms', '--json')));
		assert.equal(three.count, 3);
	},

	async info(s) {
		const [text, json] = await together(s, ['info'], ['info', '--json']);
		golden(`${s.name}-info-${s.era}.txt`, steady(text).replace(/ +$/gm, ''));
		golden(`${s.name}-info-${s.era}.json`, json);
		const info = JSON.parse(json);
		assert.ok(info.capabilities.tools && info.capabilities.prompts && info.capabilities.resources);
		assert.deepEqual([info.serverInfo?.name ?? info._meta['io.modelcontextprotocol/serverInfo'].name], [s.is[0]]);
		assert.match(text, new RegExp(`^revision +${REVISION[s.era]} \\(${s.era}\\)$`, 'm'));
	},

	async raw(s) {
		const name = s.tool[0], args = Object.fromEntries(s.tool.slice(1).map(a => a.split('=')).map(([k, v]) => [k, isNaN(v) ? v : Number(v)]));
		const [list, answer] = await together(s, ['raw', '|', 'prompts/list'], ['raw', '|', 'tools/call', JSON.stringify({ name, arguments: args })]);
		assert.deepEqual(JSON.parse(list).prompts.map(p => p.name), s.prompts);
		assert.equal(JSON.parse(answer).content[0].text, s.says);
		if (s.slow) return;
		const refused = await run(s.at('raw', '|', 'no/such', 'x=1'));
		assert.equal(refused.code, 5, refused.stderr);
		assert.equal(JSON.parse(refused.stdout).code, -32601);
	},

	async shell(s) {
		const quoted = s.tool.map(word => `'${word}'`).join(' ');
		const script = `# all of it with one connection\nls --prompts --names\n${quoted}\ncall ${quoted} --json\nprompt ${s.prompt.get.join(' ')}\nping\nread '${s.text[0]}'\n`;
		const lines = (await good(s.at('shell'), { input: script })).split('\n');
		assert.deepEqual(lines.slice(0, s.prompts.length), s.prompts);
		const [call, json, role, text, ping, resource] = lines.slice(s.prompts.length);
		assert.equal(call, s.says);
		assert.equal(JSON.parse(json).content[0].text, s.says);
		assert.equal(`${role}\n${text}\n`, s.prompt.is);
		assert.match(ping, / answers after /);
		assert.match(resource, s.text[1]);
		if (s.slow) return;
		const stopped = await run(s.at('shell'), { input: `show nobody\n${quoted}\n` });
		assert.equal(stopped.code, 5);
		assert.equal(stopped.stdout, '');
	},

	async watch(s, t) {
		const uri = s.hears?.uri ?? s.touches.uri;
		const events = !s.hears && s.touches.when(s.link, s.era);
		const ending = s.hears ? [] : events ? ['--count', '1'] : ['--for', '100ms'];
		const child = start(['watch', '--json', '-v', ...ending, ...(s.hears?.words ?? []), ...s.at('watch', '|', uri).slice(2)], { input: null });
		t.use({ end: async () => { child.kill('SIGKILL'); await child.ended; return []; } });
		if (s.hears) {
			await heard(child, s.hears.line);
			child.kill('SIGINT');
			assert.equal((await within(child.ended, 'the end of watch')).code, 130);
			return;
		}
		if (events) {
			await heard(child, /subscriptions\/acknowledged|> \{.*"resources\/subscribe"[^]*< \{[^\n]*"result":\{\}/, 'stderr');
			await good(s.at('call', '|', ...s.touches.call));
		}
		const { code, stdout, stderr } = await within(child.ended, 'the end of watch');
		assert.equal(code, 0, stderr);
		if (!events) return;
		const [event] = stdout.trim().split('\n').map(line => JSON.parse(line));
		assert.match(event.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		assert.deepEqual([event.event, event.uri], ['resource', uri]);
	},

	async doctor(s) {
		const [text, json] = await together(s, ['doctor'], ['doctor', '--json']);
		const places = s.url ? { URL: s.url } : { COMMAND: s.argv.join(' '), PROGRAM: s.argv[0] };
		golden(`${s.name}-doctor-${s.link}-${s.era}.txt`, steady(text, places).replace(/\b\d+ from the server/, '… from the server'));
		const steps = JSON.parse(json).steps;
		assert.ok(steps.every(step => step.status === 'ok'), json);
		for (const name of ['revision', 'capabilities', 'tools', 'messages', s.link === 'http' ? 'TCP' : 'program'])
			assert.ok(steps.some(step => step.step === name), `${name}: ${json}`);
	},

	async check(s) {
		const { code, stdout, stderr } = await run(s.at('check', '--json'));
		assert.equal(code, s.bad ? 7 : 0, stderr);
		const report = JSON.parse(stdout);
		const rules = [...new Set(report.findings.filter(f => f.severity !== 'note').map(f => f.rule))].sort();
		assert.deepEqual(rules, [...s.rules].sort());
		if (s.slow) return;
		const strict = await run(s.at('check', '--strict', '--rule', s.rules[0]));
		assert.equal(strict.code, 7, strict.stderr);
		golden(`${s.name}-check-${s.rules[0]}.txt`, strict.stdout);
	},

	/** Recorded, found valid, played back as the server, and compared as a client. */
	async 'record, validate, replay'(s) {
		const cwd = place({ '.mcp.json': '{}' }), file = path.join(cwd, 'talk.ndjson');
		const config = { recorded: { command: cleat, args: ['record', file, ...(s.link === 'http' ? [s.url] : ['--', ...s.argv])] },
			again: { command: cleat, args: ['replay', file] } };
		fs.writeFileSync(path.join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: config }));
		const call = (server, ...words) => good(['call', '-q', '--era', s.era, server, ...words], { cwd });
		assert.equal(await call('recorded', ...s.tool), `${s.says}\n`);
		const talk = fs.readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line));
		assert.ok(talk.some(m => m.dir === '>' && m.msg.method === 'tools/call') && talk.some(m => m.dir === '<' && m.msg.result?.content));
		assert.equal(fs.statSync(file).mode & 0o777, 0o600);

		assert.match(await good(['validate', file]), /valid/);
		const verdicts = (await good(['validate', '--json', file])).trim().split('\n').map(line => JSON.parse(line));
		assert.equal(verdicts.length, talk.length);
		assert.ok(verdicts.every(v => v.valid), JSON.stringify(verdicts.filter(v => !v.valid)));
		fs.writeFileSync(path.join(cwd, 'spoilt'), fs.readFileSync(file, 'utf8').replaceAll('"content":[', '"contents":['));
		await fails(7, /^$/, ['validate', path.join(cwd, 'spoilt')]);

		assert.equal(await call('again', ...s.tool), `${s.says}\n`);
		const other = await run(['call', '-q', '--era', s.era, '--no-check', 'again', s.tool[0], 'x=1'], { cwd });
		assert.equal(other.code, 5, other.stderr);
		assert.match(other.stderr, /not recorded|recorded/);
		assert.equal((await run(s.at('replay', file))).code, 0);
	},

	/** The same between a client and a server that both speak HTTP. */
	async 'record --http, validate, replay --http'(s, t) {
		if (s.link !== 'http') return;
		const file = path.join(place(), 'talk.ndjson');
		const listening = async args => {
			const child = start(args, { input: null });
			t.use({ end: async () => { child.kill('SIGKILL'); await child.ended; return []; } });
			const url = /http:\S+/.exec(await heard(child, /http:\S+\/mcp/, 'stderr'))[0];
			return { url, end: async () => { child.kill('SIGINT'); return (await within(child.ended, 'the end')).code; } };
		};
		const call = url => good(['call', '-q', '--era', s.era, url, ...s.tool]);
		const recorder = await listening(['record', '--http', '127.0.0.1:0', file, s.url]);
		assert.equal(await call(recorder.url), `${s.says}\n`);
		assert.equal(await recorder.end(), 130);
		assert.match(await good(['validate', file]), /^\d+ messages, all valid\n$/);
		const mock = await listening(['replay', '--http', '127.0.0.1:0', file]);
		assert.equal(await call(mock.url), `${s.says}\n`);
		assert.equal(await mock.end(), 130);
	},

	async bench(s) {
		const n = s.link === 'http' ? 200 : 60;
		const report = JSON.parse(await good(s.at('bench', '--json', '-n', String(n), '--warmup', '0', '-c', '2', '--call', s.tool[0], '|', ...s.tool.slice(1))));
		assert.equal(report.answered, n);
		assert.equal(report.errors.total, 0);
		assert.deepEqual([report.server.name, report.server.version, report.server.protocolVersion], [...s.is, REVISION[s.era]]);
		assert.equal(report.load.engine, 'raw');
		assert.ok(report.usage.rss_most > 1_000_000, JSON.stringify(report.usage));
		assert.equal(report.scenarios[0].request, s.tool[0]);
		assert.ok(report.latency_ms.p50 > 0 && report.latency_ms.p50 <= report.latency_ms.max);
	}
};

// ---- all of them ---------------------------------------------------------------------------------

// What has no server to talk to, or tests of its own.
const elsewhere = ['config', 'completion', 'version', 'help', 'serve', 'install', 'uninstall', 'login', 'logout'];

/** A case that fails when there is a verb of which this file knows nothing. */
export const complete = () => test('no verb is left out', async () => {
	const all = (await good(['man', '--list'])).trim().split('\n').filter(n => n !== 'cleat').map(n => n.slice(6));
	const seen = Object.keys(verbs).flatMap(name => name.replace(/, that .*| --http/g, '').split(', '));
	for (const verb of all) assert.ok(seen.includes(verb) || elsewhere.includes(verb), verb);
	for (const verb of seen) assert.ok(all.includes(verb), verb);
});

/** The cases of a server. */
export function matrix(server) {
	for (const link of ['stdio', 'http']) {
		let running; // one for all eras and verbs
		const at = async era => {
			if (link === 'http') running ??= await server.http();
			return reach(server, link, era, running?.url);
		};
		for (const era of server.eras)
			for (const [verb, body] of Object.entries(verbs))
				test(`${server.name}, ${link}, ${era}: ${verb}`, async t => body(await at(era), t));
		test(`${server.name}, ${link}: is gone at the end`, async () => assert.deepEqual((await running?.end()) ?? [], []));
	}
}
