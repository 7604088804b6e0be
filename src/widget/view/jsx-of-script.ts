import type { jsx as Jsx } from "preact/jsx-runtime";

/**
 * The JSX of the second file. The build replaces preact's with this one, which is the script's: with a copy of preact in
 * each file, one would mistake the other's nodes for its own.
 */
export let jsx: typeof Jsx;
export let jsxs: typeof Jsx;
export let Fragment: unknown;

export function shareJsx(script: { jsx: typeof Jsx; Fragment: unknown }): void {
  jsx = jsxs = script.jsx;
  Fragment = script.Fragment;
}
