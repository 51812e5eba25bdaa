import { Compass } from 'lucide-react';
import { AnchorLink } from '../components/links.tsx';
import { Nothing } from '../components/nothing.tsx';

export const NotFound = () => (
  <div className="page">
    <Nothing icon={Compass} title="There is no such page" action={<AnchorLink to="/">To the overview</AnchorLink>} />
  </div>
);
