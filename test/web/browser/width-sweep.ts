import type { Page } from 'playwright-core';

/** From a small phone to a wide screen. */
const WIDTHS = Array.from({ length: 36 }, (_, step) => 320 + 64 * step);

/** Texts with defects that are named of one width. */
const NAMED = 3;

/**
 * What is wrong with the texts of a page at its width: boxes too narrow for their longest word, names cut to less than three letters,
 * figures and dates of tables on several lines, texts over each other, controls out of their card, and a page that scrolls sideways.
 * One pass without a change of the page, so that each width is laid out once.
 */
const defects = `(() => {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push('the page scrolls sideways by ' + (scrollWidth - clientWidth) + ' px');

  const meet = (a, b) => ({
    left: Math.max(a.left, b.left), right: Math.min(a.right, b.right), top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
  });
  const everywhere = { left: -1e6, right: 1e6, top: -1e6, bottom: 1e6 };
  const parts = new Map();
  /** What of an element can be seen, its box of lines, and the layer it moves with. */
  const partOf = (element) => {
    if (!element) return { clip: everywhere, layer: null, box: null };
    const known = parts.get(element);
    if (known) return known;
    const style = getComputedStyle(element);
    const above = partOf(element.parentElement);
    const isInline = style.display === 'inline' || style.display === 'contents';
    const isClipped = !isInline && style.overflowX !== 'visible';
    // One with a name can be scrolled by keyboard. A choice cuts off its last values.
    const isChoice = element.getAttribute('role') === 'radiogroup';
    if (isClipped && (isChoice || style.overflowX !== 'hidden') && style.overflowX !== 'clip' && !element.hasAttribute('tabindex') && element.scrollWidth > element.clientWidth + 1)
      found.push('scrolls sideways by ' + (element.scrollWidth - element.clientWidth) + ' px: ' + nameOf(element, ''));
    const part = {
      style,
      clip: isClipped ? meet(above.clip, element.getBoundingClientRect()) : above.clip,
      layer: style.position === 'fixed' || style.position === 'sticky' ? element : above.layer,
      box: isInline ? above.box : element,
    };
    parts.set(element, part);
    return part;
  };
  const nameOf = (element, text) => JSON.stringify(text.trim().slice(0, 40)) + ' in ' + element.tagName.toLowerCase() + '.' + element.className;

  const lines = [];
  const range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const text = node.data;
    const element = node.parentElement;
    if (text.trim() === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const { style, clip, layer, box } = partOf(element);
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
    if (innerWidth > 768 && element.closest('td .num') && rects.some(({ top }) => Math.abs(top - rects[0].top) > 4)) found.push('on several lines: ' + nameOf(element, text));
    // Only for screen readers, or in a control that is drawn without its text.
    if (!box || (box.clientWidth <= 1 && box.clientHeight <= 1)) continue;
    const boxStyle = partOf(box).style;
    const room = box.clientWidth - parseFloat(boxStyle.paddingLeft) - parseFloat(boxStyle.paddingRight);
    const size = parseFloat(style.fontSize);
    if (boxStyle.overflowX !== 'visible' && boxStyle.textOverflow === 'ellipsis') {
      if (box.scrollWidth > box.clientWidth && room < 2 * size) found.push('cut to ' + Math.round(room) + ' px: ' + nameOf(box, text));
    } else if (boxStyle.overflowX === 'visible') {
      // Paths and ids may break anywhere.
      const words = text.split(/\\s+/).filter((word) => word.length <= 20 && !word.includes('/')).flatMap((word) => word.match(/[\\p{L}’]+/gu) ?? []);
      const longest = words.reduce((long, word) => (word.length > long.length ? word : long), '');
      // No letter is wider than its size: most boxes need no measuring.
      if (longest.length * size > room) {
        const at = text.indexOf(longest);
        range.setStart(node, at);
        range.setEnd(node, at + longest.length);
        const pieces = [...range.getClientRects()].filter(({ width }) => width > 0);
        const width = pieces.reduce((sum, piece) => sum + piece.width, 0);
        if (width > room + 1 || pieces.some(({ top }) => Math.abs(top - pieces[0].top) > 4))
          found.push(Math.round(room) + ' px for the ' + Math.round(width) + ' of ' + JSON.stringify(longest) + ': ' + nameOf(box, text));
      }
    }
    for (const rect of rects) {
      // Lines are higher than letters.
      const quarter = rect.height / 4;
      const seen = meet({ left: rect.left, right: rect.right, top: rect.top + quarter, bottom: rect.bottom - quarter }, clip);
      if (seen.right - seen.left > 2 && seen.bottom - seen.top > 1) lines.push({ ...seen, node, element, layer, text });
    }
  }

  for (const control of document.querySelectorAll('.card :is(select, input, button)')) {
    const card = control.closest('.card').getBoundingClientRect();
    const seen = meet(partOf(control.parentElement).clip, control.getBoundingClientRect());
    if (seen.right > card.right + 1) found.push('out of its card by ' + Math.round(seen.right - card.right) + ' px: ' + nameOf(control, control.ariaLabel ?? ''));
  }

  lines.sort((a, b) => a.top - b.top);
  for (let first = 0; first < lines.length; first++)
    for (let second = first + 1; second < lines.length && lines[second].top < lines[first].bottom; second++) {
      const [a, b] = [lines[first], lines[second]];
      const over = meet(a, b);
      if (a.node !== b.node && a.layer === b.layer && over.right - over.left > 1 && over.bottom - over.top > 1)
        found.push('over each other: ' + nameOf(a.element, a.text) + ' and ' + nameOf(b.element, b.text));
    }
  return found;
})()`;

/** Resizes an open page and lists the defects by width: `1024 px: …`. The page is not loaded again. */
export const defectsByWidth = async (page: Page): Promise<string[]> => {
  const tab = await page.context().newCDPSession(page);
  const found: string[] = [];
  for (const width of WIDTHS) {
    const resized = tab.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 860,
      deviceScaleFactor: 1,
      mobile: false,
    });
    const expression = `new Promise((done) => {
      const look = () => requestAnimationFrame(() => setTimeout(() => done(${defects})));
      if (innerWidth === ${width}) look();
      else addEventListener('resize', look, { once: true });
    })`;
    const { result } = await tab.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    await resized;
    found.push(...(result.value as string[]).slice(0, NAMED).map((defect) => `${width} px: ${defect}`));
  }
  await tab.detach();
  return found;
};
