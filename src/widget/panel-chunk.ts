/** The second file of the build, loaded when the panel opens. */
import feedback from "./styles/feedback.css";
import images from "./styles/images.css";
import people from "./styles/people.css";
import progress from "./styles/progress.css";
import questions from "./styles/questions.css";
import richText from "./styles/rich-text.css";
import threads from "./styles/threads.css";

export const styles = progress + questions + richText + images + threads + people + feedback;
export { addImages } from "./images/add-images.ts";
export { imageIntake } from "./images/image-intake.ts";
export { followThread } from "./run/thread/followed-thread.ts";
export { listThreads } from "./run/thread/thread-list.ts";
export { readChannel } from "./service/read-channel.ts";
export { toldPage } from "./service/told-page.ts";
export { translations } from "./strings/languages.ts";
export { portableSchema } from "../domain/channels/portable-schema.ts";
export { shareJsx } from "./view/jsx-of-script.ts";
export { DraftImageList } from "./view/draft-image-list.tsx";
export { fitViewport } from "./view/fit-viewport.ts";
export { ImageButton } from "./view/image-button.tsx";
export { MessageImages } from "./view/message-images.tsx";
export { PersonBar } from "./view/person-bar.tsx";
export { plainText, renderMarkdown } from "./view/markdown/render-markdown.ts";
export { Thumbs } from "./view/thumbs.tsx";
export { ThreadListView } from "./view/thread-list-view.tsx";
