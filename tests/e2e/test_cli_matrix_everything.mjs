// Every verb of `cleat` with the reference server of npm, @modelcontextprotocol/server-everything
// (lib/matrix.mjs).

import { matrix } from './lib/matrix.mjs';
import { NodeServer, everything, freePort } from './lib/node_server.mjs';
import { run } from './lib/tap.mjs';


matrix({
	name: 'everything',
	is: ['mcp-servers/everything', '2.0.0'],
	eras: ['legacy'],
	argv: everything('stdio'),
	http: async () => {
		const port = await freePort();
		return NodeServer.start(everything('streamableHttp'), { env: { PORT: String(port) }, ready: /listening on port/, port });
	},
	tool: ['get-sum', 'a=2', 'b=40'],
	says: 'The sum of 2 and 40 is 42.',
	line: /^get-sum\(a: number, b: number\) +\[read-only, idempotent\] Returns the sum of two numbers$/m,
	structured: { call: ['get-structured-content', 'location=Chicago'], is: { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 } },
	fails: { call: ['--no-check', 'get-sum', 'a=x', 'b=1'], says: /the tool failed:\n.*-32602/ },
	asks: { call: ['trigger-elicitation-request'], accept: ['--accept', '--answer', 'name=Ann'], accepted: /"name": "Ann"/, declined: /declined/ },
	text: ['demo://resource/dynamic/text/3', /^Resource 3: This is a plaintext resource created at [^\n]*$/],
	blob: ['demo://resource/dynamic/blob/3', /^Resource 3: This is a base64 blob created at /],
	resources: 7, templates: ['demo://resource/dynamic/text/{resourceId}', 'demo://resource/dynamic/blob/{resourceId}'],
	prompts: ['simple-prompt', 'args-prompt', 'completable-prompt', 'resource-prompt'],
	prompt: { get: ['args-prompt', 'city=Oslo', 'state=Viken'], is: "user:\nWhat's weather in Oslo, Viken?\n" },
	complete: [[['completable-prompt', 'department=S'], ['Sales', 'Support']],
		[['completable-prompt', 'name=A', 'department=Engineering'], ['Alice']],
		[['demo://resource/dynamic/text/{resourceId}', 'resourceId=7'], ['7']]],
	show: ['get-structured-content', 'completable-prompt', 'demo://resource/static/document/features.md', 'demo://resource/dynamic/blob/{resourceId}'],
	rules: ['argument-description', 'unknown-tool'],
	hears: { words: ['--log', 'info'], uri: 'demo://resource/dynamic/text/1', line: /"event":"log","level":"info".*"Received Subscribe Resource request for URI: demo:/ }
});

await run();
