/** What build.mjs fills in: a stylesheet's minified text, the version of package.json, the renderer's file name. */
declare module "*.css" {
  const text: string;
  export default text;
}

declare const __VERSION__: string;
declare const __MARKDOWN_FILE__: string;
