/** The second file of the build, loaded when the panel opens. */
export { followThread } from "./run/followed-thread.ts";
export { listThreads } from "./run/thread-list.ts";
export { translations } from "./strings/translations.ts";
export { shareJsx } from "./view/jsx-of-script.ts";
export { renderMarkdown } from "./view/render-markdown.ts";
export { ThreadListView } from "./view/thread-list-view.tsx";
