import type { Component as PreactComponent } from "preact";
import type { jsx as Jsx } from "preact/jsx-runtime";

/**
 * Preact as the second file has it. The build replaces preact with this, which is the script's: with a copy of preact in
 * each file, one would mistake the other's nodes for its own.
 */
export let jsx: typeof Jsx;
export let jsxs: typeof Jsx;
export let Fragment: unknown;

/** What the script shares of it. */
export interface ScriptsPreact {
  jsx: typeof Jsx;
  Fragment: unknown;
  Component: typeof PreactComponent;
}

/** What a component of the second file extends. It has the script's methods as soon as they are shared. */
export class Component {
  readonly props: unknown;
  readonly context: unknown;

  constructor(props: unknown, context: unknown) {
    this.props = props;
    this.context = context;
  }
}

/** Called once, before anything of the second file is rendered. */
export function sharePreact(script: ScriptsPreact): void {
  jsx = jsxs = script.jsx;
  Fragment = script.Fragment;
  Object.setPrototypeOf(Component.prototype, script.Component.prototype);
}
