/** The second file of the build, loaded when the panel opens. */
import composer from "./styles/composer.css";
import messages from "./styles/messages.css";
import feedback from "./styles/feedback.css";
import ink from "./styles/ink.css";
import welcome from "./styles/welcome.css";
import images from "./styles/images.css";
import people from "./styles/people.css";
import progress from "./styles/progress.css";
import questions from "./styles/questions.css";
import sources from "./styles/sources.css";
import richText from "./styles/rich-text.css";
import threads from "./styles/threads.css";
import tools from "./styles/tools.css";
import touch from "./styles/touch.css";

export const styles = [
  ink,
  messages,
  welcome,
  composer,
  progress,
  questions,
  richText,
  images,
  threads,
  people,
  feedback,
  sources,
  tools,
  touch,
].join("");
export { addImages } from "./images/add-images.ts";
export { followThread } from "./run/thread/followed-thread.ts";
export { callTool, settle } from "./run/tab/page-calls.ts";
export { listThreads } from "./run/thread/thread-list.ts";
export { readChannel } from "./service/read-channel.ts";
export { toldPage } from "./service/told-page.ts";
export { translations } from "./strings/languages.ts";
export { listTools } from "./tools/list-tools.ts";
export { postCatalog } from "./tools/post-catalog.ts";
export { shareScript } from "./view/shared-by-script.ts";
export { Panel, panelAttributes } from "./view/panel.tsx";
export { Teaser } from "./view/teaser.tsx";
export { fitViewport } from "./view/fit-viewport.ts";
export { plainText } from "./view/markdown/render-markdown.ts";
