import uPlot from "uplot";
import type { PlotSpec } from "./series.ts";

/** A plot that is drawn; it is drawn anew for another width, and in other colours for the dark. */
export interface Drawn {
  remove(): void;
}

const HEIGHT = 180;

/**
 * Draws a plot over UTC days. Bars stand on each other: the last series is drawn first, as tall as all together.
 * `onDay`: the day under the pointer, null: none.
 */
export function drawPlot(into: HTMLElement, spec: PlotSpec, onDay: (index: number | null) => void): Drawn {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let plot = create();
  const redraw = () => {
    plot.destroy();
    plot = create();
  };
  dark.addEventListener("change", redraw);
  const watcher = new ResizeObserver(() => plot.setSize({ width: into.clientWidth, height: HEIGHT }));
  watcher.observe(into);
  return {
    remove() {
      dark.removeEventListener("change", redraw);
      watcher.disconnect();
      plot.destroy();
    },
  };

  function create(): uPlot {
    return new uPlot(optionsOf(into, spec, onDay), dataOf(spec), into);
  }
}

function dataOf({ kind, days, series }: PlotSpec): uPlot.AlignedData {
  const places = days.map((_, at) => at);
  const values =
    kind === "bars" ? stacked(series.map((one) => one.values)) : series.map((one) => [...one.values]);
  return [places, ...values.reverse()];
}

/** Each with all before it. */
function stacked(all: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const sums = (all[0] ?? []).map(() => 0);
  return all.map((values) => values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))));
}

/** Colours of the stylesheet as a canvas takes them: for the light or the dark, whichever it is. */
function colorsOf(into: HTMLElement): (name: string) => string {
  const probe = document.createElement("i");
  into.append(probe);
  const colors = new Map(
    ["quiet", "line", "plot-1", "plot-2", "plot-3", "plot-4", "plot-5"].map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return (name) => colors.get(name) ?? "currentColor";
}

function optionsOf(into: HTMLElement, spec: PlotSpec, onDay: (index: number | null) => void): uPlot.Options {
  const { kind, days, series, format } = spec;
  const color = colorsOf(into);
  const axis = { stroke: color("quiet"), font: "12px system-ui, sans-serif", ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  return {
    width: into.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === "lines" } },
    scales: {
      // Half a day at each end, so that the first and the last bar are whole.
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_plot, _from, to) => [0, to > 0 ? to * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 30,
        incrs: [1, 2, 5, 7, 14, 30],
        values: (_plot, places) => places.map((at) => (Number.isInteger(at) ? (days[at] ?? "") : "")),
      },
      {
        ...axis,
        size: 54,
        grid: { stroke: color("line"), width: 1 },
        values: (_plot, splits) => splits.map(format),
      },
    ],
    series: [
      {},
      ...series
        .map(({ label, color: name }): uPlot.Series => {
          const stroke = color(name);
          if (kind === "lines")
            return { label, stroke, width: 2, points: { show: days.length < 45, size: 4, fill: stroke } };
          return {
            label,
            stroke,
            fill: stroke,
            width: 0,
            points: { show: false },
            ...(bars ? { paths: bars } : {}),
          };
        })
        .reverse(),
    ],
    hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? null)] },
  };
}
