/** The second file of the build, loaded when the panel opens. */
export { translations } from "./strings/translations.ts";
export { renderMarkdown } from "./view/render-markdown.ts";
