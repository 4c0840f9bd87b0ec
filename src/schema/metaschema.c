/* schema/metaschema.c - see metaschema.h.
 *
 * The documents are those of json-schema.org without their titles and comments; the vocabularies
 * have the "$vocabulary" that they were published with and have lost since. They stand here as
 * JSON: the preprocessor makes strings of them, with one space for every line break.
 */
#include "schema/metaschema.h"

#define TEXT(...) #__VA_ARGS__

/* clang-format off */
static const char schema[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/schema",
	"$vocabulary":{
		"https://json-schema.org/draft/2020-12/vocab/core":true,
		"https://json-schema.org/draft/2020-12/vocab/applicator":true,
		"https://json-schema.org/draft/2020-12/vocab/unevaluated":true,
		"https://json-schema.org/draft/2020-12/vocab/validation":true,
		"https://json-schema.org/draft/2020-12/vocab/meta-data":true,
		"https://json-schema.org/draft/2020-12/vocab/format-annotation":true,
		"https://json-schema.org/draft/2020-12/vocab/content":true
	},
	"$dynamicAnchor":"meta",
	"allOf":[
		{"$ref":"meta/core"},{"$ref":"meta/applicator"},{"$ref":"meta/unevaluated"},
		{"$ref":"meta/validation"},{"$ref":"meta/meta-data"},
		{"$ref":"meta/format-annotation"},{"$ref":"meta/content"}
	],
	"type":["object","boolean"],
	"properties":{
		"definitions":{
			"type":"object","additionalProperties":{"$dynamicRef":"#meta"},
			"deprecated":true,"default":{}
		},
		"dependencies":{
			"type":"object",
			"additionalProperties":{
				"anyOf":[
					{"$dynamicRef":"#meta"},
					{"$ref":"meta/validation#/$defs/stringArray"}
				]
			},
			"deprecated":true,"default":{}
		},
		"$recursiveAnchor":{"$ref":"meta/core#/$defs/anchorString","deprecated":true},
		"$recursiveRef":{"$ref":"meta/core#/$defs/uriReferenceString","deprecated":true}
	}
});

static const char core[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/core",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{
		"$id":{"$ref":"#/$defs/uriReferenceString","pattern":"^[^#]*#?$"},
		"$schema":{"$ref":"#/$defs/uriString"},"$ref":{"$ref":"#/$defs/uriReferenceString"},
		"$anchor":{"$ref":"#/$defs/anchorString"},
		"$dynamicRef":{"$ref":"#/$defs/uriReferenceString"},
		"$dynamicAnchor":{"$ref":"#/$defs/anchorString"},
		"$vocabulary":{
			"type":"object","propertyNames":{"$ref":"#/$defs/uriString"},
			"additionalProperties":{"type":"boolean"}
		},
		"$comment":{"type":"string"},
		"$defs":{"type":"object","additionalProperties":{"$dynamicRef":"#meta"}}
	},
	"$defs":{
		"anchorString":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},
		"uriString":{"type":"string","format":"uri"},
		"uriReferenceString":{"type":"string","format":"uri-reference"}
	}
});

static const char applicator[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/applicator",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/applicator":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{
		"prefixItems":{"$ref":"#/$defs/schemaArray"},"items":{"$dynamicRef":"#meta"},
		"contains":{"$dynamicRef":"#meta"},"additionalProperties":{"$dynamicRef":"#meta"},
		"properties":{
			"type":"object","additionalProperties":{"$dynamicRef":"#meta"},"default":{}
		},
		"patternProperties":{
			"type":"object","additionalProperties":{"$dynamicRef":"#meta"},
			"propertyNames":{"format":"regex"},"default":{}
		},
		"dependentSchemas":{
			"type":"object","additionalProperties":{"$dynamicRef":"#meta"},"default":{}
		},
		"propertyNames":{"$dynamicRef":"#meta"},"if":{"$dynamicRef":"#meta"},
		"then":{"$dynamicRef":"#meta"},"else":{"$dynamicRef":"#meta"},
		"allOf":{"$ref":"#/$defs/schemaArray"},"anyOf":{"$ref":"#/$defs/schemaArray"},
		"oneOf":{"$ref":"#/$defs/schemaArray"},"not":{"$dynamicRef":"#meta"}
	},
	"$defs":{"schemaArray":{"type":"array","minItems":1,"items":{"$dynamicRef":"#meta"}}}
});

static const char unevaluated[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/unevaluated",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/unevaluated":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{
		"unevaluatedItems":{"$dynamicRef":"#meta"},
		"unevaluatedProperties":{"$dynamicRef":"#meta"}
	}
});

static const char validation[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/validation",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/validation":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{
		"type":{
			"anyOf":[
				{"$ref":"#/$defs/simpleTypes"},
				{
					"type":"array","items":{"$ref":"#/$defs/simpleTypes"},
					"minItems":1,"uniqueItems":true
				}
			]
		},
		"const":true,"enum":{"type":"array","items":true},
		"multipleOf":{"type":"number","exclusiveMinimum":0},"maximum":{"type":"number"},
		"exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},
		"exclusiveMinimum":{"type":"number"},
		"maxLength":{"$ref":"#/$defs/nonNegativeInteger"},
		"minLength":{"$ref":"#/$defs/nonNegativeIntegerDefault0"},
		"pattern":{"type":"string","format":"regex"},
		"maxItems":{"$ref":"#/$defs/nonNegativeInteger"},
		"minItems":{"$ref":"#/$defs/nonNegativeIntegerDefault0"},
		"uniqueItems":{"type":"boolean","default":false},
		"maxContains":{"$ref":"#/$defs/nonNegativeInteger"},
		"minContains":{"$ref":"#/$defs/nonNegativeInteger","default":1},
		"maxProperties":{"$ref":"#/$defs/nonNegativeInteger"},
		"minProperties":{"$ref":"#/$defs/nonNegativeIntegerDefault0"},
		"required":{"$ref":"#/$defs/stringArray"},
		"dependentRequired":{
			"type":"object","additionalProperties":{"$ref":"#/$defs/stringArray"}
		}
	},
	"$defs":{
		"nonNegativeInteger":{"type":"integer","minimum":0},
		"nonNegativeIntegerDefault0":{"$ref":"#/$defs/nonNegativeInteger","default":0},
		"simpleTypes":{
			"enum":["array","boolean","integer","null","number","object","string"]
		},
		"stringArray":{
			"type":"array","items":{"type":"string"},"uniqueItems":true,"default":[]
		}
	}
});

static const char meta_data[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/meta-data",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/meta-data":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{
		"title":{"type":"string"},"description":{"type":"string"},"default":true,
		"deprecated":{"type":"boolean","default":false},
		"readOnly":{"type":"boolean","default":false},
		"writeOnly":{"type":"boolean","default":false},
		"examples":{"type":"array","items":true}
	}
});

static const char format_annotation[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/format-annotation",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/format-annotation":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{"format":{"type":"string"}}
});

static const char format_assertion[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/format-assertion",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/format-assertion":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{"format":{"type":"string"}}
});

static const char content[] = TEXT({
	"$schema":"https://json-schema.org/draft/2020-12/schema",
	"$id":"https://json-schema.org/draft/2020-12/meta/content",
	"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/content":true},
	"$dynamicAnchor":"meta","type":["object","boolean"],
	"properties":{
		"contentEncoding":{"type":"string"},"contentMediaType":{"type":"string"},
		"contentSchema":{"$dynamicRef":"#meta"}
	}
});

static const char draft_07[] = TEXT({
	"$schema":"http://json-schema.org/draft-07/schema#",
	"$id":"http://json-schema.org/draft-07/schema#",
	"definitions":{
		"schemaArray":{"type":"array","minItems":1,"items":{"$ref":"#"}},
		"nonNegativeInteger":{"type":"integer","minimum":0},
		"nonNegativeIntegerDefault0":{
			"allOf":[{"$ref":"#/definitions/nonNegativeInteger"},{"default":0}]
		},
		"simpleTypes":{
			"enum":["array","boolean","integer","null","number","object","string"]
		},
		"stringArray":{
			"type":"array","items":{"type":"string"},"uniqueItems":true,"default":[]
		}
	},
	"type":["object","boolean"],
	"properties":{
		"$id":{"type":"string","format":"uri-reference"},
		"$schema":{"type":"string","format":"uri"},
		"$ref":{"type":"string","format":"uri-reference"},"$comment":{"type":"string"},
		"title":{"type":"string"},"description":{"type":"string"},"default":true,
		"readOnly":{"type":"boolean","default":false},
		"writeOnly":{"type":"boolean","default":false},
		"examples":{"type":"array","items":true},
		"multipleOf":{"type":"number","exclusiveMinimum":0},"maximum":{"type":"number"},
		"exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},
		"exclusiveMinimum":{"type":"number"},
		"maxLength":{"$ref":"#/definitions/nonNegativeInteger"},
		"minLength":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},
		"pattern":{"type":"string","format":"regex"},"additionalItems":{"$ref":"#"},
		"items":{
			"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/schemaArray"}],"default":true
		},
		"maxItems":{"$ref":"#/definitions/nonNegativeInteger"},
		"minItems":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},
		"uniqueItems":{"type":"boolean","default":false},"contains":{"$ref":"#"},
		"maxProperties":{"$ref":"#/definitions/nonNegativeInteger"},
		"minProperties":{"$ref":"#/definitions/nonNegativeIntegerDefault0"},
		"required":{"$ref":"#/definitions/stringArray"},"additionalProperties":{"$ref":"#"},
		"definitions":{"type":"object","additionalProperties":{"$ref":"#"},"default":{}},
		"properties":{"type":"object","additionalProperties":{"$ref":"#"},"default":{}},
		"patternProperties":{
			"type":"object","additionalProperties":{"$ref":"#"},
			"propertyNames":{"format":"regex"},"default":{}
		},
		"dependencies":{
			"type":"object",
			"additionalProperties":{
				"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/stringArray"}]
			}
		},
		"propertyNames":{"$ref":"#"},"const":true,
		"enum":{"type":"array","items":true,"minItems":1,"uniqueItems":true},
		"type":{
			"anyOf":[
				{"$ref":"#/definitions/simpleTypes"},
				{
					"type":"array","items":{"$ref":"#/definitions/simpleTypes"},
					"minItems":1,"uniqueItems":true
				}
			]
		},
		"format":{"type":"string"},"contentMediaType":{"type":"string"},
		"contentEncoding":{"type":"string"},"if":{"$ref":"#"},"then":{"$ref":"#"},
		"else":{"$ref":"#"},"allOf":{"$ref":"#/definitions/schemaArray"},
		"anyOf":{"$ref":"#/definitions/schemaArray"},
		"oneOf":{"$ref":"#/definitions/schemaArray"},"not":{"$ref":"#"}
	},
	"default":true
});
/* clang-format on */

#define D2020 "https://json-schema.org/draft/2020-12/"

static const struct {
	const char *uri;
	const char *text;
} known[] = {
	{ D2020 "schema", schema },
	{ D2020 "meta/core", core },
	{ D2020 "meta/applicator", applicator },
	{ D2020 "meta/unevaluated", unevaluated },
	{ D2020 "meta/validation", validation },
	{ D2020 "meta/meta-data", meta_data },
	{ D2020 "meta/format-annotation", format_annotation },
	{ D2020 "meta/format-assertion", format_assertion },
	{ D2020 "meta/content", content },
	{ "http://json-schema.org/draft-07/schema", draft_07 },
};

struct str metaschema_text(struct str uri)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eqz(uri, known[i].uri))
			return str_of(known[i].text);
	return (struct str){ NULL, 0 };
}
