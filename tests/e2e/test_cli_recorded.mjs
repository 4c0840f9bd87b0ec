// The official TypeScript SDKs with `cleat record` in between: over HTTP in front and behind, and over pipes in
// front of a server on HTTP. What they can do without it they can do with it: questions, progress,
// cancellation, subscriptions, resumption.

import { askCases } from './lib/asks.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { bridged, overHttp } from './lib/recorded.mjs';
import { run } from './lib/tap.mjs';
import { v1, v1Http } from './lib/v1.mjs';
import { v2Modern, v2ModernHttp } from './lib/v2.mjs';

askCases(overHttp(v2ModernHttp));
askCases(bridged(v2Modern));
for (const sdk of [overHttp(v1Http), bridged(v1)]) {
	askCases(sdk);
	legacyCases(sdk);
}
await run();
