import type { jsx as Jsx } from "preact/jsx-runtime";

/**
 * The JSX of the second file, which the build puts in place of preact's: it is the script's own. With a copy of preact in
 * each file, one would take the other's nodes for its own.
 */
export let jsx: typeof Jsx;
export let jsxs: typeof Jsx;
export let Fragment: unknown;

export function shareJsx(script: { jsx: typeof Jsx; Fragment: unknown }): void {
  jsx = jsxs = script.jsx;
  Fragment = script.Fragment;
}
