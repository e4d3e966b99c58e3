/** The default theme without its font files: pages use the fonts of the reader's system. */
import theme from 'vitepress/theme-without-fonts';

export default theme;
