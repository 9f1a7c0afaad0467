/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "report/html.h"

enum { WIDE = 1000, HIGH = 200 };

/* The smallest round number that is not below the value. */
static double
round_up(double value)
{
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
    double base = value > 0 ? pow(10, floor(log10(value))) : 1;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * base >= value * 0.999999)
            return steps[i] * base;
    return 10 * base;
}

/* "1.2k", "40", "0.5" */
static void
put_number(textbuf *out, double v)
{
    if (v >= 1e6)
        textbuf_put(out, "%.4gM", v / 1e6);
    else if (v >= 1e4)
        textbuf_put(out, "%.4gk", v / 1e3);
    else
        textbuf_put(out, "%.4g", v);
}

static void
put_head(textbuf *out, const html_chart *c)
{
    textbuf_put(out, "<figure class=\"chart%s\"><figcaption><h3 id=\"%s\">%s</h3>",
                c->is_band ? " band" : "", c->id, c->title);
    if (c->n_series > 1 || c->is_band) {
        textbuf_put(out, "<ul class=\"legend\">");
        for (size_t i = 0; i < c->n_series; i++)
            textbuf_put(
                out,
                "<li><svg class=\"key\" viewBox=\"0 0 20 10\" aria-hidden=\"true\">"
                "<%s class=\"%s\" %s/></svg>%s</li>",
                c->is_log ? "path" : "rect", c->series[i].class,
                c->is_log ? "d=\"M0 5H20\"" : "width=\"20\" height=\"10\"",
                c->series[i].name);
        textbuf_put(out, "</ul>");
    }
    textbuf_put(
        out, "</figcaption><div class=\"plot\"><div class=\"y\" aria-hidden=\"true\">");
}

static void
put_svg(textbuf *out, const html_chart *c)
{
    textbuf_put(out,
                "</div><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                "role=\"img\" aria-labelledby=\"%s-t\"><title id=\"%s-t\">",
                WIDE, HIGH, c->id, c->id);
    html_text(out, c->about);
    textbuf_put(out, "</title>");
}

static void
put_grid(textbuf *out, size_t lines)
{
    for (size_t i = 0; i <= lines; i++)
        textbuf_put(out, "<path class=\"grid\" d=\"M0 %.4gH%d\"/>",
                    (double)HIGH * (double)i / (double)lines, WIDE);
}

static double
x_of(const html_chart *c, size_t i)
{
    return (double)WIDE * (double)i / (double)c->n;
}

/* What a browser shows of a bin under the pointer. */
static void
put_tips(textbuf *out, const html_chart *c)
{
    for (size_t i = 0; c->bin && i < c->n; i++) {
        const char *tip = c->bin(i, c->arg);

        if (!tip)
            continue;
        textbuf_put(out,
                    "<rect class=\"tip\" x=\"%.5g\" width=\"%.4g\" height=\"%d\"><title>",
                    x_of(c, i), (double)WIDE / (double)c->n, HIGH);
        html_text(out, tip);
        textbuf_put(out, "</title></rect>");
    }
}

static void
put_foot(textbuf *out, const html_chart *c)
{
    put_tips(out, c);
    textbuf_put(out, "</svg><div class=\"x\" aria-hidden=\"true\">");
    for (size_t i = 0; i < 3; i++)
        textbuf_put(out, "<span>%s</span>", c->labels[i] ? c->labels[i] : "");
    textbuf_put(out, "</div></div></figure>\n");
}

/* Stacks */

static double
sum_at(const html_chart *c, size_t i, size_t n_series)
{
    double sum = 0;

    for (size_t s = 0; s < n_series; s++)
        sum += c->series[s].values[i] > 0 ? c->series[s].values[i] : 0;
    return sum;
}

static void
put_area(textbuf *out, const html_chart *c, size_t s, double most)
{
    bool any = false;

    for (size_t i = 0; i < c->n; i++)
        any = any || c->series[s].values[i] > 0;
    if (!any)
        return;
    textbuf_put(out, "<path class=\"%s\" d=\"M0 %.4g", c->series[s].class,
                HIGH - HIGH * sum_at(c, 0, s) / most);
    for (size_t i = 0; i < c->n; i++)
        textbuf_put(out, "V%.4gH%.5g", HIGH - HIGH * sum_at(c, i, s + 1) / most,
                    x_of(c, i + 1));
    for (size_t i = c->n; i > 0; i--)
        textbuf_put(out, "V%.4gH%.5g", HIGH - HIGH * sum_at(c, i - 1, s) / most,
                    x_of(c, i - 1));
    textbuf_put(out, "Z\"/>");
}

void
html_stack(textbuf *out, const html_chart *c)
{
    double most = 0;

    for (size_t i = 0; i < c->n; i++)
        most = fmax(most, sum_at(c, i, c->n_series));
    most = round_up(most);
    put_head(out, c);
    for (int i = 2; i >= 0 && !c->is_band; i--) {
        textbuf_put(out, "<span>");
        put_number(out, most * i / 2);
        textbuf_put(out, "%s</span>", i ? c->unit : "");
    }
    put_svg(out, c);
    if (!c->is_band)
        put_grid(out, 2);
    for (size_t s = 0; s < c->n_series; s++)
        put_area(out, c, s, most);
    put_foot(out, c);
}

/* Lines */

typedef struct scale {
    int low, high; /* powers of ten, in ns */
} scale;

static scale
scale_of(const html_chart *c)
{
    double least = INFINITY, most = 0;

    for (size_t s = 0; s < c->n_series; s++)
        for (size_t i = 0; i < c->n; i++)
            if (c->series[s].values[i] > 0) {
                least = fmin(least, c->series[s].values[i]);
                most = fmax(most, c->series[s].values[i]);
            }
    if (most <= 0)
        return (scale){6, 9};
    scale out = {(int)floor(log10(least)), (int)ceil(log10(most))};
    out.high += out.high == out.low;
    return out;
}

static double
y_of(const scale *s, double value)
{
    double share = (log10(value) - s->low) / (s->high - s->low);

    return HIGH - HIGH * fmin(fmax(share, 0), 1);
}

static void
put_line(textbuf *out, const html_chart *c, size_t s, const scale *sc)
{
    bool is_on = false, any = false;

    for (size_t i = 0; i < c->n; i++) {
        double v = c->series[s].values[i];

        if (v <= 0) {
            is_on = false;
            continue;
        }
        if (!any)
            textbuf_put(out, "<path class=\"%s\" d=\"", c->series[s].class);
        if (is_on)
            textbuf_put(out, "V%.4gH%.5g", y_of(sc, v), x_of(c, i + 1));
        else
            textbuf_put(out, "M%.5g %.4gH%.5g", x_of(c, i), y_of(sc, v), x_of(c, i + 1));
        is_on = any = true;
    }
    if (any)
        textbuf_put(out, "\"/>");
}

void
html_lines(textbuf *out, const html_chart *c)
{
    scale sc = scale_of(c);

    put_head(out, c);
    for (int p = sc.high; p >= sc.low; p--)
        textbuf_put(out, "<span>%s</span>",
                    figure_span(p < 19 ? (seine_span)pow(10, p) : SEINE_NEVER).text);
    put_svg(out, c);
    put_grid(out, (size_t)(sc.high - sc.low));
    for (size_t s = 0; s < c->n_series; s++)
        put_line(out, c, s, &sc);
    put_foot(out, c);
}
