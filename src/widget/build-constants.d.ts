/** Filled in by build.mjs: minified stylesheets, the version of package.json, the other files' names and integrities. */
declare module "*.css" {
  const text: string;
  export default text;
}

declare const __VERSION__: string;
declare const __PANEL_FILE__: string;
declare const __PANEL_INTEGRITY__: string;
declare const __FORMULAS_FILE__: string;
declare const __FORMULAS_INTEGRITY__: string;

/** The third file, beside the others. */
declare module "chat-agent-formulas";
