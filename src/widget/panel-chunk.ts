/** The second file of the build, loaded when the panel opens. */
import feedback from "./styles/feedback.css";
import images from "./styles/images.css";
import people from "./styles/people.css";
import progress from "./styles/progress.css";
import questions from "./styles/questions.css";
import sources from "./styles/sources.css";
import richText from "./styles/rich-text.css";
import threads from "./styles/threads.css";
import tools from "./styles/tools.css";
import touch from "./styles/touch.css";

export const styles =
  progress + questions + richText + images + threads + people + feedback + sources + tools + touch;
export { addImages } from "./images/add-images.ts";
export { imageIntake } from "./images/image-intake.ts";
export { followThread } from "./run/thread/followed-thread.ts";
export { callTool, settle } from "./run/tab/page-calls.ts";
export { listThreads } from "./run/thread/thread-list.ts";
export { readChannel } from "./service/read-channel.ts";
export { toldPage } from "./service/told-page.ts";
export { translations } from "./strings/languages.ts";
export { listTools } from "./tools/list-tools.ts";
export { postCatalog } from "./tools/post-catalog.ts";
export { shareJsx } from "./view/jsx-of-script.ts";
export { ConfirmationCard } from "./view/confirmation-card.tsx";
export { DraftImageList } from "./view/draft-image-list.tsx";
export { fitViewport } from "./view/fit-viewport.ts";
export { ImageButton } from "./view/image-button.tsx";
export { MessageImages } from "./view/message/message-images.tsx";
export { PeopleLines } from "./view/people/people-lines.tsx";
export { PersonBar } from "./view/people/person-bar.tsx";
export { plainText, renderMarkdown } from "./view/markdown/render-markdown.ts";
export { Sources } from "./view/message/sources.tsx";
export { MessageTools } from "./view/message/message-tools.tsx";
export { ThreadListView } from "./view/thread-list-view.tsx";
