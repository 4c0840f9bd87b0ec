// Every verb of `cleat` with our fixture (lib/matrix.mjs), and that no verb is left out.

import { fixture, listen } from './lib/cli.mjs';
import { complete, matrix } from './lib/matrix.mjs';
import { run } from './lib/tap.mjs';

complete();
matrix({
	name: 'ours',
	is: ['sdk-server', '1.2.3'],
	eras: ['legacy', 'modern'],
	argv: [fixture],
	http: async () => {
		let child;
		const url = await listen({ use: thing => (child = thing) }, fixture);
		return { url, end: () => child.end() };
	},
	tool: ['calculator/add', 'a=2', 'b=40.5'],
	says: '42.5',
	line: /^forecast\(city: string 1\.\., days\?: integer 1\.\.14 = 2, unit\?: celsius\|fahrenheit, at\?: object, tags\?: string\[\] \.\.3\)$/m,
	structured: { call: ['forecast', 'city=Oslo', 'days=1', 'tags=x', 'tags=y'], is: { city: 'Oslo', days: [{ day: 0, high: 18, sky: 'x' }], sure: false } },
	fails: { call: ['error_after_text'], says: /the tool failed:\nthen it broke: 7\n$/ },
	asks: { call: ['ask_confirm'], accept: ['--accept', '--answer', 'sure=true'], accepted: /^deleted\n$/, declined: /^cleat: the tool failed:\nThe user declined\.\n$/, code: 5 },
	text: ['test://static-text', /^This is the content of the static text resource\.$/],
	blob: ['test://static-binary', /^\u0089PNG/],
	resources: 6, templates: ['test://template/{id}/data', 'shape://family/{member}', 'item://{id}', 'many://{x}/{y}', 'total://{x}'],
	prompts: ['test_input_required_result_prompt', 'test_simple_prompt', 'test_prompt_with_arguments', 'test_prompt_with_embedded_resource', 'test_prompt_with_image', 'review', 'conversation'],
	prompt: { get: ['test_prompt_with_arguments', 'arg1=x', 'arg2=y'], is: "user:\nPrompt with arguments: arg1='x', arg2='y'\n" },
	complete: [[['review', 'style='], ['kind', 'strict', 'terse']]],
	show: ['forecast', 'review', 'shape://full', 'shape://family/{member}'],
	rules: ['argument-description', 'description', 'name', 'schema-portable'],
	bad: true, // a name with an umlaut
	touches: { uri: 'test://watched-resource', call: ['touch', 'uri=test://watched-resource'], when: link => link === 'http' }
});

await run();
