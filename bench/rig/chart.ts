import { BarChart, ScatterChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, ScatterChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** Names from top to bottom, each with a value of every series to its right. */
export interface Chart {
  title: string;
  /** What the values are, with their unit. */
  axis: string;
  /** A logarithmic scale has no zero, and so no length to compare: it shows points, not bars. */
  scale: "linear" | "log";
  names: string[];
  series: Series[];
}

export interface Series {
  name: string;
  values: number[];
  /** For each value: is it the service's? */
  isOurs: boolean[];
}

const OURS = "#2b6cb0";
const OTHERS = "#b3bac4";
const TEXT = "#333c48";
const LINES = "#e4e7eb";
const WIDTH = 860;
/** Text cannot be measured here, so this leaves room for the widest font. */
const CHAR_PX = 7.2;

/** The chart as SVG. */
export function chartOf({ title, axis, scale, names, series }: Chart): string {
  const isLog = scale === "log";
  const rowPx = isLog ? 32 : 16 + 16 * series.length;
  const height = 130 + rowPx * names.length;
  const namesPx = 24 + CHAR_PX * Math.max(...names.map(({ length }) => length));
  const chart = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  chart.setOption({
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: "system-ui, sans-serif", color: TEXT },
    title: { text: title, left: 16, top: 12, textStyle: { fontSize: 16, fontWeight: 600, color: TEXT } },
    legend: { show: series.length > 1, right: 24, top: 14, itemGap: 24, icon: "roundRect" },
    grid: { left: namesPx, right: 64, top: 56, bottom: 48, outerBoundsMode: "none" },
    xAxis: {
      type: isLog ? "log" : "value",
      name: axis,
      nameLocation: "middle",
      nameGap: 32,
      nameTextStyle: { color: TEXT },
      axisLabel: { color: TEXT },
      splitLine: { lineStyle: { color: LINES } },
    },
    yAxis: {
      type: "category",
      // The first row of the table is at the top.
      inverse: true,
      data: names,
      axisTick: { show: false },
      axisLine: { show: !isLog, lineStyle: { color: TEXT } },
      axisLabel: { color: TEXT, interval: 0 },
      splitLine: { show: isLog, lineStyle: { color: LINES } },
    },
    series: series.map(({ name, values, isOurs }) => ({
      type: isLog ? "scatter" : "bar",
      name,
      ...(isLog ? { symbolSize: 12 } : { barWidth: 12, barGap: "15%" }),
      color: isOurs.every(Boolean) ? OURS : OTHERS,
      data: values.map((value, i) => ({
        value,
        itemStyle: { opacity: 1, color: isOurs[i] ? OURS : OTHERS },
      })),
      label: { show: true, position: "right", color: TEXT, fontSize: 11, formatter: "{c}" },
    })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
