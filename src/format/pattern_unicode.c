/* format/pattern_unicode.c - the Unicode properties that a pattern may name in \p{...}.
 *
 * PCRE2 knows ECMA-262's names of scripts and of binary properties, but it is not strict about case
 * and has many more, so the names are listed here. Which characters have a property is PCRE2's
 * knowledge; that a script is newer than the installed PCRE2 comes out when the pattern is compiled.
 */
#include "format/pattern_impl.h"

/* PropertyValueAliases.txt: General_Category. */
static const struct {
	char name[22], code[3];
} categories[] = {
	{ "Cased_Letter", "LC" },
	{ "Close_Punctuation", "Pe" },
	{ "Connector_Punctuation", "Pc" },
	{ "Control", "Cc" },
	{ "cntrl", "Cc" },
	{ "Currency_Symbol", "Sc" },
	{ "Dash_Punctuation", "Pd" },
	{ "Decimal_Number", "Nd" },
	{ "digit", "Nd" },
	{ "Enclosing_Mark", "Me" },
	{ "Final_Punctuation", "Pf" },
	{ "Format", "Cf" },
	{ "Initial_Punctuation", "Pi" },
	{ "Letter", "L" },
	{ "Letter_Number", "Nl" },
	{ "Line_Separator", "Zl" },
	{ "Lowercase_Letter", "Ll" },
	{ "Mark", "M" },
	{ "Combining_Mark", "M" },
	{ "Math_Symbol", "Sm" },
	{ "Modifier_Letter", "Lm" },
	{ "Modifier_Symbol", "Sk" },
	{ "Nonspacing_Mark", "Mn" },
	{ "Number", "N" },
	{ "Open_Punctuation", "Ps" },
	{ "Other", "C" },
	{ "Other_Letter", "Lo" },
	{ "Other_Number", "No" },
	{ "Other_Punctuation", "Po" },
	{ "Other_Symbol", "So" },
	{ "Paragraph_Separator", "Zp" },
	{ "Private_Use", "Co" },
	{ "Punctuation", "P" },
	{ "punct", "P" },
	{ "Separator", "Z" },
	{ "Space_Separator", "Zs" },
	{ "Spacing_Mark", "Mc" },
	{ "Surrogate", "Cs" },
	{ "Symbol", "S" },
	{ "Titlecase_Letter", "Lt" },
	{ "Unassigned", "Cn" },
	{ "Uppercase_Letter", "Lu" },
};

/* ECMA-262, "Binary Unicode property aliases"; without those that put_lone() treats. */
static const char binary[] =
	"ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Bidi_Control Bidi_C "
	"Bidi_Mirrored Bidi_M Case_Ignorable CI Cased Changes_When_Casefolded CWCF "
	"Changes_When_Casemapped CWCM Changes_When_Lowercased CWL Changes_When_Titlecased "
	"CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated "
	"Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod "
	"Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict "
	"Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext Hex_Digit Hex "
	"IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS "
	"Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower "
	"Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space "
	"Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal "
	"STerm Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase "
	"Upper Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS ";

/* PropertyValueAliases.txt of Unicode 17: Script. */
static const char scripts[] =
	"Adlam Adlm Ahom Anatolian_Hieroglyphs Hluw Arabic Arab Armenian Armn Avestan "
	"Avst Balinese Bali Bamum Bamu Bassa_Vah Bass Batak Batk Bengali Beng Beria_Erfe "
	"Berf Bhaiksuki Bhks Bopomofo Bopo Brahmi Brah Braille Brai Buginese Bugi Buhid "
	"Buhd Canadian_Aboriginal Cans Carian Cari Caucasian_Albanian Aghb Chakma Cakm "
	"Cham Cherokee Cher Chorasmian Chrs Common Zyyy Coptic Copt Qaac Cuneiform Xsux "
	"Cypriot Cprt Cypro_Minoan Cpmn Cyrillic Cyrl Deseret Dsrt Devanagari Deva "
	"Dives_Akuru Diak Dogra Dogr Duployan Dupl Egyptian_Hieroglyphs Egyp Elbasan Elba "
	"Elymaic Elym Ethiopic Ethi Garay Gara Georgian Geor Glagolitic Glag Gothic Goth "
	"Grantha Gran Greek Grek Gujarati Gujr Gunjala_Gondi Gong Gurmukhi Guru "
	"Gurung_Khema Gukh Hangul Hang Hani Han Hanifi_Rohingya Rohg Hanunoo Hano Hatran "
	"Hatr Hebrew Hebr Hiragana Hira Imperial_Aramaic Armi Inherited Qaai Zinh "
	"Inscriptional_Pahlavi Phli Inscriptional_Parthian Prti Javanese Java Kaithi Kthi "
	"Kannada Knda Katakana Kana Kawi Kayah_Li Kali Kharoshthi Khar "
	"Khitan_Small_Script Kits Khmer Khmr Khojki Khoj Khudawadi Sind Kirat_Rai Krai "
	"Laoo Lao Latin Latn Lepcha Lepc Limbu Limb Linear_A Lina Linear_B Linb Lisu "
	"Lycian Lyci Lydian Lydi Mahajani Mahj Makasar Maka Malayalam Mlym Mandaic Mand "
	"Manichaean Mani Marchen Marc Masaram_Gondi Gonm Medefaidrin Medf Meetei_Mayek "
	"Mtei Mende_Kikakui Mend Meroitic_Cursive Merc Meroitic_Hieroglyphs Mero Modi "
	"Mongolian Mong Mroo Mro Multani Mult Myanmar Mymr Nabataean Nbat Nag_Mundari "
	"Nagm Nandinagari Nand New_Tai_Lue Talu Newa Nkoo Nko Nushu Nshu "
	"Nyiakeng_Puachue_Hmong Hmnp Ogham Ogam Ol_Chiki Olck Ol_Onal Onao Old_Hungarian "
	"Hung Old_Italic Ital Old_North_Arabian Narb Old_Permic Perm Old_Persian Xpeo "
	"Old_Sogdian Sogo Old_South_Arabian Sarb Old_Turkic Orkh Old_Uyghur Ougr Oriya "
	"Orya Osage Osge Osmanya Osma Pahawh_Hmong Hmng Palmyrene Palm Pau_Cin_Hau Pauc "
	"Phags_Pa Phag Phoenician Phnx Miao Plrd Psalter_Pahlavi Phlp Rejang Rjng Runic "
	"Runr Samaritan Samr Saurashtra Saur Sharada Shrd Shavian Shaw Siddham Sidd "
	"Sidetic Sidt SignWriting Sgnw Sinhala Sinh Sogdian Sogd Sora_Sompeng Sora "
	"Soyombo Soyo Sundanese Sund Sunuwar Sunu Syloti_Nagri Sylo Syriac Syrc Tagalog "
	"Tglg Tagbanwa Tagb Tai_Le Tale Tai_Tham Lana Tai_Viet Tavt Tai_Yo Tayo Takri "
	"Takr Tamil Taml Tangsa Tnsa Tangut Tang Telugu Telu Thaana Thaa Thai Tibetan "
	"Tibt Tifinagh Tfng Tirhuta Tirh Todhri Todr Tolong_Siki Tols Toto Tulu_Tigalari "
	"Tutg Ugaritic Ugar Unknown Zzzz Vaii Vai Vithkuqi Vith Wancho Wcho Warang_Citi "
	"Wara Yezidi Yezi Yiii Yi Zanabazar_Square Zanb ";

/* `list` is words with a space behind each. */
static bool listed(const char *list, struct str word)
{
	const char *end;

	for (; *list; list = end + 1) {
		end = strchr(list, ' ');
		if ((size_t)(end - list) == word.n && memcmp(list, word.p, word.n) == 0)
			return true;
	}
	return false;
}

static const char *category(struct str name)
{
	for (size_t i = 0; i < CLEAT_COUNT(categories); i++)
		if (str_eqz(name, categories[i].name) || str_eqz(name, categories[i].code))
			return categories[i].code;
	return NULL;
}

static int pattern_unicode_put(char out[PROPERTY_SIZE], bool negated, const char *kind,
			       struct str name)
{
	size_t k = strlen(kind), n = 0;

	out[n++] = '\\';
	out[n++] = negated ? 'P' : 'p';
	out[n++] = '{';
	memcpy(out + n, kind, k);
	memcpy(out + n + k, name.p, name.n);
	n += k + name.n;
	out[n++] = '}';
	out[n] = '\0';
	return CLEAT_OK;
}

static int put_category(char out[PROPERTY_SIZE], bool negated, struct str name)
{
	const char *code = category(name);

	if (!code)
		return CLEAT_EINVAL;
	return pattern_unicode_put(out, negated, "", str_of(strcmp(code, "LC") == 0 ? "L&" : code));
}

static int put_lone(char out[PROPERTY_SIZE], bool negated, struct str name)
{
	if (str_eqz(name, "Assigned"))
		return pattern_unicode_put(out, !negated, "", STR_LIT("Cn"));
	if (str_eqz(name, "Changes_When_NFKC_Casefolded") || str_eqz(name, "CWKCF"))
		return CLEAT_EUNSUPPORTED;
	if (listed(binary, name))
		return pattern_unicode_put(out, negated, "", name);
	return put_category(out, negated, name);
}

int pattern_property(struct str text, bool negated, char out[PROPERTY_SIZE])
{
	const char *equals = text.n ? memchr(text.p, '=', text.n) : NULL;
	struct str name = text, value;

	if (!equals)
		return put_lone(out, negated, text);
	name.n = (size_t)(equals - text.p);
	value = (struct str){ equals + 1, text.n - name.n - 1 };
	if (str_eqz(name, "General_Category") || str_eqz(name, "gc"))
		return put_category(out, negated, value);
	if ((str_eqz(name, "Script") || str_eqz(name, "sc")) && listed(scripts, value))
		return pattern_unicode_put(out, negated, "sc:", value);
	if ((str_eqz(name, "Script_Extensions") || str_eqz(name, "scx")) && listed(scripts, value))
		return pattern_unicode_put(out, negated, "scx:", value);
	return CLEAT_EINVAL;
}
