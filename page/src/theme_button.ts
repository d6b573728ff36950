// Light, dark, or as the desktop has it.
import { button } from "./dom";

export function themeButton(): HTMLButtonElement {
  const themes = ["auto", "light", "dark"];
  const theme = button("Theme: auto", { class: "theme" }, () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % themes.length];
    document.documentElement.dataset.theme = next;
    theme.textContent = `Theme: ${next}`;
    dispatchEvent(new Event("theme"));
  });
  return theme;
}
