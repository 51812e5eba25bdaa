import { Compass } from 'lucide-react';
import { EmptyState } from '../components/empty-state.tsx';
import { AnchorLink } from '../components/links.tsx';

export const NotFound = () => (
  <div className="page">
    <EmptyState icon={Compass} title="Page not found" action={<AnchorLink to="/">Go to the overview</AnchorLink>} />
  </div>
);
