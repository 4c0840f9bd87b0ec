// Sessions and streams over HTTP (2025-03-26 to 2025-11-25), with both official TypeScript SDKs: who gets
// what, and what happens when a connection is lost.

import { leftoverCase } from './lib/leftover.mjs';
import { sessionCases } from './lib/sessions.mjs';
import { run } from './lib/tap.mjs';
import { v1Http } from './lib/v1.mjs';
import { v2LegacyHttp } from './lib/v2.mjs';

sessionCases(v1Http);
sessionCases(v2LegacyHttp);
leftoverCase();
await run();
