/* SPDX-License-Identifier: Apache-2.0 */
#include "text/tree_names.h"

#include <stdlib.h>
#include <string.h>

typedef struct row {
    char name[SN_HTML_NAME];
    uint8_t len;
    uint16_t sorts;
} row;

static const row rows[EL_COUNT] = {{"", 0, 0},
#define SN_ROW(id, name, sorts) {name, sizeof name - 1, sorts},
                                   SN_TREE_NAME_TABLE(SN_ROW)
#undef SN_ROW
};

static size_t
slot_of(const char name[SN_HTML_NAME])
{
    uint64_t low, high;

    memcpy(&low, name, sizeof low);
    memcpy(&high, name + sizeof low, sizeof high);
    uint64_t h = (low ^ (high << 7 | high >> 57)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 55);
}

void
sn_tree_names_init(sn_tree_names *names)
{
    memset(names, 0, sizeof *names);
    for (size_t el = 1; el < EL_COUNT; el++) {
        size_t at = slot_of(rows[el].name);

        while (names->slot[at] != 0)
            at = (at + 1) % SN_TREE_NAME_SLOTS;
        names->slot[at] = (uint8_t)el;
    }
}

sn_tree_el
sn_tree_names_find(const sn_tree_names *names, const char name[SN_HTML_NAME], size_t len)
{
    if (len > SN_HTML_NAME)
        return EL_OTHER;
    for (size_t at = slot_of(name); names->slot[at] != 0;
         at = (at + 1) % SN_TREE_NAME_SLOTS)
        if (memcmp(rows[names->slot[at]].name, name, SN_HTML_NAME) == 0)
            return (sn_tree_el)names->slot[at];
    return EL_OTHER;
}

sn_str
sn_tree_el_name(sn_tree_el el)
{
    return (sn_str){rows[el].name, rows[el].len};
}

static unsigned
sorts_of_math(sn_tree_el el)
{
    switch (el) {
    case EL_MI:
    case EL_MO:
    case EL_MN:
    case EL_MS:
    case EL_MTEXT:
        return SN_EL_SPECIAL | SN_EL_SCOPE | SN_EL_TEXT_POINT;
    case EL_ANNOTATION_XML:
        return SN_EL_SPECIAL | SN_EL_SCOPE;
    default:
        return 0;
    }
}

unsigned
sn_tree_el_sorts(sn_tree_el el, sn_ns ns)
{
    if (ns == SN_NS_HTML)
        return rows[el].sorts;
    if (ns == SN_NS_MATH)
        return sorts_of_math(el);
    return el == EL_FOREIGNOBJECT || el == EL_DESC || el == EL_TITLE
               ? SN_EL_SPECIAL | SN_EL_SCOPE | SN_EL_HTML_POINT
               : 0;
}

sn_tree_look
sn_tree_el_look(sn_tree_el el)
{
    static const uint8_t looks[EL_COUNT] = {
#define UNSEEN(id) [EL_##id] = SN_LOOK_UNSEEN
#define BLOCK(id)  [EL_##id] = SN_LOOK_BLOCK
        UNSEEN(SCRIPT),
        UNSEEN(STYLE),
        UNSEEN(TEMPLATE),
        UNSEEN(NOSCRIPT),
        UNSEEN(HEAD),
        BLOCK(ADDRESS),
        BLOCK(ARTICLE),
        BLOCK(ASIDE),
        BLOCK(BLOCKQUOTE),
        BLOCK(BODY),
        BLOCK(BR),
        BLOCK(BUTTON),
        BLOCK(CAPTION),
        BLOCK(CENTER),
        BLOCK(DD),
        BLOCK(DETAILS),
        BLOCK(DIALOG),
        BLOCK(DIR),
        BLOCK(DIV),
        BLOCK(DL),
        BLOCK(DT),
        BLOCK(FIELDSET),
        BLOCK(FIGCAPTION),
        BLOCK(FIGURE),
        BLOCK(FOOTER),
        BLOCK(FORM),
        BLOCK(H1),
        BLOCK(H2),
        BLOCK(H3),
        BLOCK(H4),
        BLOCK(H5),
        BLOCK(H6),
        BLOCK(HEADER),
        BLOCK(HGROUP),
        BLOCK(HR),
        BLOCK(HTML),
        BLOCK(LEGEND),
        BLOCK(LI),
        BLOCK(MAIN),
        BLOCK(MENU),
        BLOCK(NAV),
        BLOCK(OL),
        BLOCK(OPTGROUP),
        BLOCK(OPTION),
        BLOCK(P),
        BLOCK(PRE),
        BLOCK(SEARCH),
        BLOCK(SECTION),
        BLOCK(SELECT),
        BLOCK(SUMMARY),
        BLOCK(TABLE),
        BLOCK(TBODY),
        BLOCK(TEXTAREA),
        BLOCK(TFOOT),
        BLOCK(THEAD),
        BLOCK(TITLE),
        BLOCK(TR),
        BLOCK(UL),
        [EL_TD] = SN_LOOK_CELL,
        [EL_TH] = SN_LOOK_CELL,
#undef UNSEEN
#undef BLOCK
    };

    return (sn_tree_look)looks[el];
}

/* The spellings of 13.2.6.1, sorted without regard to case. */
static const char *const svg_attrs[] = {
    "attributeName",
    "attributeType",
    "baseFrequency",
    "baseProfile",
    "calcMode",
    "clipPathUnits",
    "diffuseConstant",
    "edgeMode",
    "filterUnits",
    "glyphRef",
    "gradientTransform",
    "gradientUnits",
    "kernelMatrix",
    "kernelUnitLength",
    "keyPoints",
    "keySplines",
    "keyTimes",
    "lengthAdjust",
    "limitingConeAngle",
    "markerHeight",
    "markerUnits",
    "markerWidth",
    "maskContentUnits",
    "maskUnits",
    "numOctaves",
    "pathLength",
    "patternContentUnits",
    "patternTransform",
    "patternUnits",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "preserveAlpha",
    "preserveAspectRatio",
    "primitiveUnits",
    "refX",
    "refY",
    "repeatCount",
    "repeatDur",
    "requiredExtensions",
    "requiredFeatures",
    "specularConstant",
    "specularExponent",
    "spreadMethod",
    "startOffset",
    "stdDeviation",
    "stitchTiles",
    "surfaceScale",
    "systemLanguage",
    "tableValues",
    "targetX",
    "targetY",
    "textLength",
    "viewBox",
    "viewTarget",
    "xChannelSelector",
    "yChannelSelector",
    "zoomAndPan",
};

static const char *const svg_names[] = {
    "altGlyph",
    "altGlyphDef",
    "altGlyphItem",
    "animateColor",
    "animateMotion",
    "animateTransform",
    "clipPath",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
    "foreignObject",
    "glyphRef",
    "linearGradient",
    "radialGradient",
    "textPath",
};

static int
by_spelling(const void *key, const void *entry)
{
    const sn_str *name = key;
    const char *const *at = entry;
    sn_str it = sn_str_of(*at);

    for (size_t i = 0; i < name->len && i < it.len; i++) {
        int order = name->ptr[i] - sn_lower(it.ptr[i]);

        if (order)
            return order;
    }
    return (name->len > it.len) - (name->len < it.len);
}

static sn_str
respelled(sn_str name, const char *const *table, size_t n)
{
    const char *const *at = bsearch(&name, table, n, sizeof *table, by_spelling);

    return at ? sn_str_of(*at) : name;
}

sn_str
sn_tree_svg_attr(sn_str name)
{
    return respelled(name, svg_attrs, sizeof svg_attrs / sizeof *svg_attrs);
}

sn_str
sn_tree_svg_name(sn_str name)
{
    return respelled(name, svg_names, sizeof svg_names / sizeof *svg_names);
}
