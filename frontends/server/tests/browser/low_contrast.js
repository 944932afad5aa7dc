(() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
  const found = [];
  const check = (element, pseudo) => {
    const ratio = contrast(getComputedStyle(element, pseudo).color, background(element));
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
  };
  for (const element of document.body.querySelectorAll("*")) {
    if (!element.checkVisibility()) continue;
    if (hasText(element)) check(element);
    if (element.placeholder) check(element, "::placeholder");
    if (element.localName === "input" && contrast(getComputedStyle(element).borderTopColor, background(element)) < 3) {
      found.push(`border of ${element.id}`);
    }
  }
  return found;
})()
