import { currentWebBuild } from '../../web/current-build.ts';

export default (): void => {
  currentWebBuild();
};
