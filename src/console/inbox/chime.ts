const NAME = "chime";

/** Whether a new conversation plays a sound; browsers play none before the first click on the page. */
export function isChimeOn(): boolean {
  return localStorage.getItem(NAME) === "on";
}

export function setChime(isOn: boolean): void {
  localStorage.setItem(NAME, isOn ? "on" : "off");
  if (isOn) chime();
}

const NOTES_HZ = [660, 880];
const NOTE_SECONDS = 0.14;

/** Two soft notes, made here: no file is loaded. */
export function chime(): void {
  const audio = new AudioContext();
  for (const [at, pitch] of NOTES_HZ.entries()) {
    const note = new OscillatorNode(audio, { type: "sine", frequency: pitch });
    const begin = audio.currentTime + at * NOTE_SECONDS;
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setValueAtTime(0, begin);
    volume.gain.linearRampToValueAtTime(0.12, begin + 0.02);
    volume.gain.linearRampToValueAtTime(0, begin + NOTE_SECONDS * 1.6);
    note.connect(volume).connect(audio.destination);
    note.start(begin);
    note.stop(begin + NOTE_SECONDS * 2);
  }
  setTimeout(() => void audio.close(), 1_000);
}
