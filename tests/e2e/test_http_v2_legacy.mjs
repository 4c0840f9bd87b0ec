// The official TypeScript SDK, v2, against our server over HTTP, as a client of the revisions up to
// 2025-11-25.

import { askCases } from './lib/asks.mjs';
import { commonCases } from './lib/cases.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { revisionCases } from './lib/revisions.mjs';
import { run } from './lib/tap.mjs';
import { v2LegacyHttp } from './lib/v2.mjs';

commonCases(v2LegacyHttp);
askCases(v2LegacyHttp);
legacyCases(v2LegacyHttp);
revisionCases(v2LegacyHttp);
leftoverCase();
await run();
