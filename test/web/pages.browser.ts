/**
 * The dashboard in a real browser, `npm run test:web`: what its pages show. All stories of a file share one stack and one browser, which take
 * longer to start than most stories take. The two files run at the same time, and should take equally long. With SCREENSHOTS=1 they save
 * screenshots in test/web/screenshots.
 */
import './stories/first-load.ts';
import './stories/views.ts';
import './stories/overview.ts';
import './stories/figures.ts';
import './stories/one-figure.ts';
import './stories/requests.ts';
import './stories/failures.ts';
