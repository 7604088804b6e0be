import { useEffect, useRef, useState } from "preact/hooks";
import { hasValues } from "./series.ts";
import type { PlotSpec, Series } from "./series.ts";

/** A plot with its legend, which tells the values of the day under the pointer; and the same as a table. */
export function Figure({ spec }: { spec: PlotSpec }) {
  const box = useRef<HTMLDivElement>(null);
  const [day, setDay] = useState<number | null>(null);
  const isEmpty = !hasValues(spec);
  useEffect(() => {
    if (isEmpty) return;
    let remove = () => {};
    let isGone = false;
    void import("./plot.ts").then(({ drawPlot }) => {
      if (isGone || !box.current) return;
      const drawn = drawPlot(box.current, spec, setDay);
      remove = () => drawn.remove();
    });
    return () => {
      isGone = true;
      remove();
    };
  }, [spec, isEmpty]);
  return (
    <figure class="plot">
      <figcaption>
        <h2>{spec.title}</h2>
        <p class="quiet">{spec.about}</p>
      </figcaption>
      {isEmpty ? (
        <p class="nothing">No data in this period.</p>
      ) : (
        <>
          <div class="canvas" ref={box} aria-hidden="true" />
          <Legend spec={spec} day={day} />
          <details>
            <summary>Numbers of {spec.title.toLowerCase()}</summary>
            <Numbers spec={spec} />
          </details>
        </>
      )}
    </figure>
  );
}

function Legend({ spec, day }: { spec: PlotSpec; day: number | null }) {
  return (
    <p class="legend">
      {spec.series.map((series) => (
        <span key={series.label}>
          <i class={series.color} /> {series.label}
          {day !== null && <b> {shown(series, day, spec)}</b>}
        </span>
      ))}
      {day !== null && <span class="day">{spec.days[day]}</span>}
    </p>
  );
}

function Numbers({ spec }: { spec: PlotSpec }) {
  return (
    <div class="numbers" tabIndex={0} role="region" aria-label={`${spec.title} by day`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {spec.series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spec.days
            .map((name, at) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {spec.series.map((series) => (
                  <td key={series.label}>{shown(series, at, spec)}</td>
                ))}
              </tr>
            ))
            .reverse()}
        </tbody>
      </table>
    </div>
  );
}

function shown({ values }: Series, at: number, { format }: PlotSpec): string {
  const value = values[at] ?? null;
  return value === null ? "none" : format(value);
}
