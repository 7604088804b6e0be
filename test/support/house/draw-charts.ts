import { instance } from "@viz-js/viz";
import { CHARTS } from "../../../machines/charts.ts";
import { DARK_SIDE, drawDot } from "../../../machines/draw/dot.ts";
import { drawMermaid } from "../../../machines/draw/mermaid.ts";
import { outlineOf } from "../../../machines/draw/outline.ts";

/** Every chart's pictures by file name, as they belong into machines/: Mermaid, and SVG laid out by Graphviz. */
export async function drawCharts(): Promise<Map<string, string>> {
  const graphviz = await instance();
  return new Map(
    Object.values(CHARTS).flatMap((chart) => {
      const outline = outlineOf(chart);
      const svg = graphviz.renderString(drawDot(outline), { format: "svg", engine: "dot" });
      return [
        [`${outline.id}.mmd`, drawMermaid(outline)],
        [`${outline.id}.svg`, finished(svg, outline.id)],
      ];
    }),
  );
}

/** Graphviz's drawing for people and pages: moves by their ids, a dark side, and nothing that only Graphviz needs. */
function finished(svg: string, name: string): string {
  return svg
    .replace(/^[^]*?(?=<svg)/, "")
    .replaceAll(/<!--[^]*?-->\n/g, "")
    .replaceAll(/<title>[^<]*<\/title>\n/g, "")
    .replaceAll(/<g id="a_([^"]+)"><a xlink:title="([^"]+)">/g, '<g id="$1" class="move">\n<title>$2</title>')
    .replaceAll("</a>\n", "")
    .replaceAll('font-family="Arial"', 'font-family="Helvetica, Arial, sans-serif"')
    .replaceAll(' xml:space="preserve"', "")
    .replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', ' role="img"')
    .replace(">\n", `>\n<title>The statechart of a ${name}</title>\n<style>${DARK_SIDE}</style>\n`);
}
