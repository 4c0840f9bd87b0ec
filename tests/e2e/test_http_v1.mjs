// The official TypeScript SDK, v1, against our server over Streamable HTTP. What it does with sessions
// and lost connections is in test_http_sessions.mjs.

import { askCases } from './lib/asks.mjs';
import { commonCases } from './lib/cases.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { run } from './lib/tap.mjs';
import { v1Http } from './lib/v1.mjs';

commonCases(v1Http);
askCases(v1Http);
legacyCases(v1Http);
leftoverCase();
await run();
