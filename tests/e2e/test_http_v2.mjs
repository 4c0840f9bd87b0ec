// The official TypeScript SDK, v2, against our server over HTTP, as a client of 2026-07-28. What it does
// with older revisions is in test_http_v2_legacy.mjs.

import { askCases } from './lib/asks.mjs';
import { commonCases } from './lib/cases.mjs';
import { httpModernCases } from './lib/http_modern.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { modernCases } from './lib/modern.mjs';
import { run } from './lib/tap.mjs';
import { v2ModernHttp } from './lib/v2.mjs';

commonCases(v2ModernHttp);
askCases(v2ModernHttp);
modernCases(v2ModernHttp);
httpModernCases(v2ModernHttp);
leftoverCase();
await run();
