/* program/text/yaml.h - YAML as JSON: for documents that people write in YAML (OpenAPI).
 *
 * libyaml reads it, opened when it is first needed. Plain scalars are what the core schema of YAML 1.2 says
 * (null, true, 12, 1.5; "yes" is a text); keys are texts. Anchors and aliases are copies, within the limit
 * of the result: there is no small document that becomes a large one. Tags are ignored, one document only.
 */
#ifndef PROGRAM_TEXT_YAML_H
#define PROGRAM_TEXT_YAML_H

#include "base/buf.h"

/* Appends JSON. CLEAT_OK; CLEAT_EPROTO with line and column in *err; CLEAT_ELIMIT (the buf's maximum, or too
 * deep); CLEAT_EUNSUPPORTED (libyaml is not installed); CLEAT_ENOMEM. */
int yaml_to_json(struct str text, struct buf *out, cleat_error *err);

#endif
