/*
 * The element's built-in texts. Each language is a file of its own, which these types hold complete. `{n}` stands for a number,
 * `{name}` for a name.
 */

/** Said before the panel is open: the script has it in all languages. */
export interface LauncherStrings {
  title: string;
  open: string;
  close: string;
  unread: string;
  asks: string;
}

/** What becomes of a run, and of the second file: the script has it in English, and loads other languages with the panel. */
export interface RunStrings {
  retry: string;
  resumed: string;
  reconnecting: string;
  offline: string;
  notSent: string;
  failed: string;
  cut: string;
  tooLong: string;
  slowDown: string;
  stopped: string;
  expired: string;
  refused: string;
  closed: string;
  misconfigured: string;
  unreachable: string;
}

/** Of what only the second file shows, which brings its texts, English too. */
export interface LoadedStrings {
  // The panel, and the conversation in it.
  placeholder: string;
  send: string;
  stop: string;
  welcome: string;
  you: string;
  assistant: string;
  writing: string;
  newChat: string;
  latest: string;
  earlier: string;
  running: string;
  done: string;
  failedStep: string;
  question: string;
  allow: string;
  always: string;
  decline: string;
  formWaits: string;
  left: string;
  over: string;
  queued: string;
  cutOff: string;
  chats: string;
  // A reply's code.
  copy: string;
  copied: string;
  // Images, and the list of conversations.
  imagesRefused: string;
  addImages: string;
  removeImage: string;
  image: string;
  closeImage: string;
  dropImages: string;
  imagesNeedText: string;
  notAnImage: string;
  tooManyImages: string;
  imagesTooLarge: string;
  back: string;
  more: string;
  newMessages: string;
  noChats: string;
  // People who answer.
  askPerson: string;
  waiting: string;
  stopWaiting: string;
  personIsHere: string;
  personWrites: string;
  assistantIsBack: string;
  /** `{when}`: a weekday and a time. */
  personAgain: string;
  /** Lines between the messages: what changed of who answers. */
  personAsked: string;
  waitingStopped: string;
  personJoined: string;
  personClosed: string;
  // Where nobody is there. `{name}`: the address.
  address: string;
  leaveAddress: string;
  addressLeft: string;
  // How a person has helped.
  ratePerson: string;
  /** Five words from bad to good, with a comma and a space between them. */
  faces: string;
  anythingElse: string;
  // The thumbs on replies.
  rate: string;
  rateUp: string;
  rateDown: string;
  whatWasWrong: string;
  sendFeedback: string;
  skipFeedback: string;
  feedbackThanks: string;
  // What can be done with a message.
  answerAgain: string;
  editMessage: string;
  cancelEdit: string;
  /** Before the documents that a reply rests on. */
  sources: string;
  // Before a conversation is deleted.
  deleteChat: string;
  deleteQuestion: string;
  deleteYes: string;
  deleteNo: string;
  subheading: string;
  welcomeText: string;
  steps: string;
  larger: string;
  smaller: string;
  dismiss: string;
  searchChats: string;
  dictate: string;
  addFiles: string;
  dropFiles: string;
  tooManyFiles: string;
  fileTooLarge: string;
  fileNotTaken: string;
  fileFailed: string;
}

export interface Strings extends LauncherStrings, RunStrings, LoadedStrings {}
