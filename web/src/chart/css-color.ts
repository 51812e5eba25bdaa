/** The current value of a colour of the style sheet or of `colorsOf`: a canvas knows neither variables nor schemes. */
export const cssColor = (color: string): string => {
  const page = document.documentElement;
  const [, light, dark] = /^light-dark\((.+), (.+)\)$/.exec(color) ?? [];
  if (light !== undefined && dark !== undefined)
    return page.getAttribute('data-mantine-color-scheme') === 'dark' ? dark : light;
  const name = /^var\((.+)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(page).getPropertyValue(name).trim();
};
