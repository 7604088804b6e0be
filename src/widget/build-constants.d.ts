/** Filled in by build.mjs: minified stylesheets, the version of package.json, the second file's name and integrity. */
declare module "*.css" {
  const text: string;
  export default text;
}

declare const __VERSION__: string;
declare const __PANEL_FILE__: string;
declare const __PANEL_INTEGRITY__: string;
